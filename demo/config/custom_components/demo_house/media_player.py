"""Speakers and televisions of a demo house."""

from typing import Any, Final, override

from homeassistant.components.media_player import (
    BrowseMedia,
    MediaClass,
    MediaPlayerEntity,
    MediaPlayerState,
    MediaType,
    RepeatMode,
    SearchMedia,
    SearchMediaQuery,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_appliances import HomeMediaPlayer, Track

_ANY_MUSIC: Final = frozenset(
    {
        "some",
        "any",
        "music",
        "song",
        "songs",
        "etwas",
        "musik",
        "de",
        "la",
        "musique",
        "música",
        "musica",
        "muziek",
        "wat",
        "muzykę",
        "lite",
        "音乐",
    }
)
"""Words of the languages of the home for any music."""


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the media players of the home."""
    async_add_entities(
        DemoMediaPlayer(entry, player)
        for player in entry.runtime_data.entities_of(HomeMediaPlayer)
    )


class DemoMediaPlayer(DemoHouseEntity, MediaPlayerEntity):
    """A media player that goes round its tracks; without any, it only counts them."""

    def __init__(self, entry: DemoHouseConfigEntry, player: HomeMediaPlayer) -> None:
        """Take the state of the home file."""
        super().__init__(entry, player)
        self._attr_state = player.state
        self._attr_device_class = player.device_class
        self._attr_supported_features = player.supported_features
        self._attr_volume_level = player.volume_level
        self._attr_is_volume_muted = player.is_volume_muted
        self._attr_source = player.source
        self._attr_source_list = list(player.source_list) or None
        self._tracks = player.tracks
        self._put_on(player.media_track)

    @override
    async def async_turn_on(self) -> None:
        """Turn on; nothing plays yet."""
        self._do(MediaPlayerState.IDLE)

    @override
    async def async_turn_off(self) -> None:
        """Turn off."""
        self._do(MediaPlayerState.OFF)

    @override
    async def async_media_play(self) -> None:
        """Play, or play on."""
        self._do(MediaPlayerState.PLAYING)

    @override
    async def async_media_pause(self) -> None:
        """Pause."""
        self._do(MediaPlayerState.PAUSED)

    @override
    async def async_media_stop(self) -> None:
        """Stop playing."""
        self._do(MediaPlayerState.IDLE)

    @override
    async def async_media_next_track(self) -> None:
        """Play the next track."""
        self._put_on(self._track + 1)
        self._do(MediaPlayerState.PLAYING)

    @override
    async def async_media_previous_track(self) -> None:
        """Play the track before."""
        self._put_on(self._track - 1)
        self._do(MediaPlayerState.PLAYING)

    @override
    async def async_set_volume_level(self, volume: float) -> None:
        """Set the volume, 0 to 1; Home Assistant's steps up and down come here too."""
        self._attr_volume_level = volume
        self.async_write_ha_state()

    @override
    async def async_mute_volume(self, mute: bool) -> None:
        """Mute or unmute; the volume stays for afterwards."""
        self._attr_is_volume_muted = mute
        self.async_write_ha_state()

    @override
    async def async_select_source(self, source: str) -> None:
        """Choose an input."""
        self._attr_source = source
        self.async_write_ha_state()

    @override
    async def async_set_shuffle(self, shuffle: bool) -> None:
        """Play in any order, or in the given one."""
        self._attr_shuffle = shuffle
        self.async_write_ha_state()

    @override
    async def async_set_repeat(self, repeat: RepeatMode) -> None:
        """Repeat one track, all of them or none."""
        self._attr_repeat = repeat
        self.async_write_ha_state()

    @override
    async def async_join_players(self, group_members: list[str]) -> None:
        """Have others play the same."""
        self._attr_group_members = [self.entity_id, *group_members]
        self.async_write_ha_state()

    @override
    async def async_unjoin_player(self) -> None:
        """Play alone."""
        self._attr_group_members = None
        self.async_write_ha_state()

    @override
    async def async_play_media(
        self, media_type: MediaType | str, media_id: str, **kwargs: Any
    ) -> None:
        """Play what is asked for: one of its tracks, or anything else under its id."""
        for number, track in enumerate(self._tracks, start=1):
            if track.title == media_id:
                self._put_on(number)
                break
        else:
            self._show(Track(title=media_id))
        self._attr_media_content_type = media_type
        self._do(MediaPlayerState.PLAYING)

    @override
    async def async_search_media(self, query: SearchMediaQuery) -> SearchMedia:
        """Find the tracks whose title, artist or album has the words of the query, without those for any music."""
        words = set(query.search_query.casefold().split()) - _ANY_MUSIC
        return SearchMedia(
            result=[
                BrowseMedia(
                    media_class=MediaClass.TRACK,
                    media_content_id=track.title,
                    media_content_type=MediaType.MUSIC,
                    title=track.title,
                    can_play=True,
                    can_expand=False,
                )
                for track in self._tracks
                if all(
                    word
                    in f"{track.title} {track.artist or ''} {track.album or ''}".casefold()
                    for word in words
                )
            ]
        )

    def _do(self, state: MediaPlayerState) -> None:
        self._attr_state = state
        self.async_write_ha_state()

    def _put_on(self, number: int) -> None:
        """Take the track with this number, counted round from 1."""
        self._track = (
            (number - 1) % len(self._tracks) + 1 if self._tracks else max(number, 1)
        )
        self._attr_media_track = self._track
        if self._tracks:
            self._show(self._tracks[self._track - 1])

    def _show(self, track: Track) -> None:
        self._attr_media_content_id = track.title
        self._attr_media_content_type = MediaType.MUSIC
        self._attr_media_title = track.title
        self._attr_media_artist = track.artist
        self._attr_media_album_name = track.album
