"""The meaning of names of tools, by the names that servers of tools really have."""

from collections.abc import Mapping

import pytest
from homeassistant.components.homeassistant.llm import GetLiveContextTool
from homeassistant.components.media_player.llm import MediaPlayTool

from custom_components.chatterbox.tools.annotations import (
    acts_by_name,
    annotations_of,
    has_consequences,
    is_no_error,
    reads_by_name,
)

READING = """
read_file read_multiple_files list_directory list_allowed_directories get_file_info search_files read_graph
search_nodes
get_file_contents get_issue list_issues search_issues get_pull_request list_pull_requests get_pull_request_diff
get_pull_request_files get_commit list_commits get_latest_release list_releases get_tag list_tags search_repositories
search_code search_users get_me list_branches list_workflows get_job_logs list_notifications get_notification_details
list_projects get_project get_channel_history list_channels get_users get_user_profile get_thread_replies
brave_web_search brave_local_search tavily-search web_search maps_search_places get_current_time
get_weather get_forecast getForecast list_tables describe_table read_query list_databases get_schema list_collections
find list_indexes search_pages notion_search notion-fetch get_page get_comments list_events get_event list_calendars
find_free_time search_emails read_email list_email_labels get_message list_messages get_contact search_contacts
get_tasks list_tasks get_task find_tasks get_lists list_customers get_customer list_invoices list_products
list_subscriptions list_transactions get_balance get_stock_price get_news search_arxiv search_wikipedia
get_article get_summary wikipedia_search get_entity list_entities get_states get_history get_error_log search_entities
list_areas list_devices get_system_info GetLiveContext get_track get_album get_playlist searchTracks
get_queue list_playlists get_transcript get_video_info youtube_search fetch fetch_html find_organizations get_trace
get_deployment list_namespaces get_logs describe_instances list_buckets get_object_metadata search_hotels
search_flights get_departures get_directions find_recipe search_recipes get_documentation get_library_docs
"""
CHANGING = """
write_file edit_file create_directory move_file create_entities add_observations delete_entities create_issue
update_issue
add_issue_comment create_pull_request merge_pull_request push_files create_branch fork_repository create_or_update_file
search_and_replace get_or_create_list find_or_create_user get_and_delete_message post_message reply_to_thread
add_reaction
send_email delete_email mark_as_read archive_email create_event delete_event respond_to_event create_task complete_task
update_task close_task execute_query write_query insert_documents drop_collection execute_sql apply_migration
apply_search list_switch_off get_garage_up get_lights_on get_heating_going get_lights_off get_gate_open find_my_phone
read_message_aloud get_disarm getRestart search_install list_archive_all wipe_search fetch_reboot find_approve
list_add_item get_rid_of_files call_service turn_on turn_off toggle control_device set_temperature play pause
skip_track
addToPlaylist start_playback create_payment_link create_refund cancel_subscription finalize_invoice deploy restart_pod
exec_in_pod scale_deployment kubectl_apply docker_run create_container puppeteer_navigate puppeteer_click
browser_type browser_press_key book_table order_pizza purchase_ticket transfer_money unlock_door open_garage
switch_scene activate_scene run_script trigger_automation shopping_list do_it 12 sequentialthinking get_car_ready
"""
ASKED_THOUGH_THEY_READ = "directory_tree pods_list query web_crawl get_play_history list_open_issues get_update_status"
HARMFUL = """
config__reload_config_entry restart_addon reboot delete_item remove_member unlock_door openGarageDoor disarm
reset_network
install_package factoryReset buy_ticket pay_invoice execute_command run_shell disable_automation configure_router
"""
HARMLESS = "play_track add_item start_timer create_event set_volume note_down dim_lamp save_recipe send_message"

DECLARED_TO_READ = """
timetable sequentialthinking resolve-library-id pull_request_read lock_status order_history is_door_open
check_update call_log search_actions render_template browser_snapshot get_order look_up open_meteo_forecast open_weather
"""
NO_READING = """
unlock_front_door door_unlock delete_events get_and_delete_message garage_open set_state clear_history turn_on
browser_click pods_delete update_status openGarageDoor lights_off
"""


def test_names_tell_whether_a_tool_reads() -> None:
    assert [name for name in READING.split() if not reads_by_name(name)] == []
    assert [
        name
        for name in (CHANGING + ASKED_THOUGH_THEY_READ).split()
        if reads_by_name(name)
    ] == []


def test_names_tell_whether_a_tool_acts_whatever_it_says() -> None:
    reading = f"{DECLARED_TO_READ} {READING} {ASKED_THOUGH_THEY_READ}"
    assert [name for name in reading.split() if acts_by_name(name)] == []
    assert [name for name in NO_READING.split() if not acts_by_name(name)] == []


@pytest.mark.parametrize("name", HARMFUL.split())
def test_names_of_what_people_want_to_be_asked_about(name: str) -> None:
    assert has_consequences(name, {})
    assert has_consequences("manage", {"action": name})
    assert not has_consequences("manage", {"query": name, "action": 5})


@pytest.mark.parametrize(
    "arguments",
    [
        {"tool": "unlock_door"},
        {"toolName": "unlock_door", "arguments": {}},
        {"Action": "unlock"},
        {"commands": ["dim", "unlock"]},
        {"params": {"function_name": "unlock"}},
        {"steps": [{"op": "read"}, {"op": "unlock"}]},
    ],
)
def test_what_a_tool_is_told_to_do_may_stand_anywhere(
    arguments: Mapping[str, object],
) -> None:
    assert has_consequences("run_steps", arguments)


@pytest.mark.parametrize("name", HARMLESS.split())
def test_names_of_what_nobody_wants_to_be_asked_about(name: str) -> None:
    assert not has_consequences(name, {"action": name, "note": "delete everything"})


NO_ERROR = [
    "",
    " ",
    "-",
    "none",
    "NULL",
    "no error",
    "no_error",
    "No errors.",
    "OK",
    "0",
    "n/a",
    "false",
    "brak",
    "无",
]
NO_ERROR += [
    "kein Fehler",
    "keiner",
    "aucune erreur",
    "sin errores",
    "nessun errore",
    "geen fout",
    "bez błędu",
    "sem erro",
]
ERROR = [
    "error",
    "No beans",
    "not found",
    "404",
    "timeout",
    "Fehler",
    "kein Wasser",
    "false key",
    "brak wody",
    "错误",
]


@pytest.mark.parametrize(
    ("text", "none"),
    [*((one, True) for one in NO_ERROR), *((one, False) for one in ERROR)],
)
def test_the_text_of_an_error_may_say_that_there_is_none(
    text: str, *, none: bool
) -> None:
    assert is_no_error(text) == none


def test_tools_of_home_assistant_quote_nobody_unless_their_class_is_new() -> None:
    renamed = type(
        "OfAnotherRelease",
        (GetLiveContextTool,),
        {"__module__": GetLiveContextTool.__module__},
    )

    assert [
        annotations_of(tool()).open_world
        for tool in (GetLiveContextTool, MediaPlayTool, renamed)
    ] == [
        False,
        False,
        True,
    ]
