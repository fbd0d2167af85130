var ce=Object.defineProperty;var de=Object.getOwnPropertyDescriptor;var u=(r,e,t,s)=>{for(var i=s>1?void 0:s?de(e,t):e,o=r.length-1,n;o>=0;o--)(n=r[o])&&(i=(s?n(e,t,i):n(i))||i);return s&&i&&ce(e,t,i),i};var X=globalThis,tt=X.ShadowRoot&&(X.ShadyCSS===void 0||X.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,yt=Symbol(),Ht=new WeakMap,B=class{constructor(e,t,s){if(this._$cssResult$=!0,s!==yt)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=e,this.t=t}get styleSheet(){let e=this.o,t=this.t;if(tt&&e===void 0){let s=t!==void 0&&t.length===1;s&&(e=Ht.get(t)),e===void 0&&((this.o=e=new CSSStyleSheet).replaceSync(this.cssText),s&&Ht.set(t,e))}return e}toString(){return this.cssText}},Ot=r=>new B(typeof r=="string"?r:r+"",void 0,yt),_=(r,...e)=>{let t=r.length===1?r[0]:e.reduce((s,i,o)=>s+(n=>{if(n._$cssResult$===!0)return n.cssText;if(typeof n=="number")return n;throw Error("Value passed to 'css' function must be a 'css' function result: "+n+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(i)+r[o+1],r[0]);return new B(t,r,yt)},Ut=(r,e)=>{if(tt)r.adoptedStyleSheets=e.map(t=>t instanceof CSSStyleSheet?t:t.styleSheet);else for(let t of e){let s=document.createElement("style"),i=X.litNonce;i!==void 0&&s.setAttribute("nonce",i),s.textContent=t.cssText,r.appendChild(s)}},xt=tt?r=>r:r=>r instanceof CSSStyleSheet?(e=>{let t="";for(let s of e.cssRules)t+=s.cssText;return Ot(t)})(r):r;var{is:he,defineProperty:pe,getOwnPropertyDescriptor:ue,getOwnPropertyNames:me,getOwnPropertySymbols:fe,getPrototypeOf:ge}=Object,et=globalThis,Dt=et.trustedTypes,ve=Dt?Dt.emptyScript:"",$e=et.reactiveElementPolyfillSupport,G=(r,e)=>r,W={toAttribute(r,e){switch(e){case Boolean:r=r?ve:null;break;case Object:case Array:r=r==null?r:JSON.stringify(r)}return r},fromAttribute(r,e){let t=r;switch(e){case Boolean:t=r!==null;break;case Number:t=r===null?null:Number(r);break;case Object:case Array:try{t=JSON.parse(r)}catch{t=null}}return t}},st=(r,e)=>!he(r,e),Nt={attribute:!0,type:String,converter:W,reflect:!1,useDefault:!1,hasChanged:st};Symbol.metadata??=Symbol("metadata"),et.litPropertyMetadata??=new WeakMap;var E=class extends HTMLElement{static addInitializer(e){this._$Ei(),(this.l??=[]).push(e)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(e,t=Nt){if(t.state&&(t.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(e)&&((t=Object.create(t)).wrapped=!0),this.elementProperties.set(e,t),!t.noAccessor){let s=Symbol(),i=this.getPropertyDescriptor(e,s,t);i!==void 0&&pe(this.prototype,e,i)}}static getPropertyDescriptor(e,t,s){let{get:i,set:o}=ue(this.prototype,e)??{get(){return this[t]},set(n){this[t]=n}};return{get:i,set(n){let a=i?.call(this);o?.call(this,n),this.requestUpdate(e,a,s)},configurable:!0,enumerable:!0}}static getPropertyOptions(e){return this.elementProperties.get(e)??Nt}static _$Ei(){if(this.hasOwnProperty(G("elementProperties")))return;let e=ge(this);e.finalize(),e.l!==void 0&&(this.l=[...e.l]),this.elementProperties=new Map(e.elementProperties)}static finalize(){if(this.hasOwnProperty(G("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(G("properties"))){let t=this.properties,s=[...me(t),...fe(t)];for(let i of s)this.createProperty(i,t[i])}let e=this[Symbol.metadata];if(e!==null){let t=litPropertyMetadata.get(e);if(t!==void 0)for(let[s,i]of t)this.elementProperties.set(s,i)}this._$Eh=new Map;for(let[t,s]of this.elementProperties){let i=this._$Eu(t,s);i!==void 0&&this._$Eh.set(i,t)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(e){let t=[];if(Array.isArray(e)){let s=new Set(e.flat(1/0).reverse());for(let i of s)t.unshift(xt(i))}else e!==void 0&&t.push(xt(e));return t}static _$Eu(e,t){let s=t.attribute;return s===!1?void 0:typeof s=="string"?s:typeof e=="string"?e.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(e=>this.enableUpdating=e),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(e=>e(this))}addController(e){(this._$EO??=new Set).add(e),this.renderRoot!==void 0&&this.isConnected&&e.hostConnected?.()}removeController(e){this._$EO?.delete(e)}_$E_(){let e=new Map,t=this.constructor.elementProperties;for(let s of t.keys())this.hasOwnProperty(s)&&(e.set(s,this[s]),delete this[s]);e.size>0&&(this._$Ep=e)}createRenderRoot(){let e=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return Ut(e,this.constructor.elementStyles),e}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(e=>e.hostConnected?.())}enableUpdating(e){}disconnectedCallback(){this._$EO?.forEach(e=>e.hostDisconnected?.())}attributeChangedCallback(e,t,s){this._$AK(e,s)}_$ET(e,t){let s=this.constructor.elementProperties.get(e),i=this.constructor._$Eu(e,s);if(i!==void 0&&s.reflect===!0){let o=(s.converter?.toAttribute!==void 0?s.converter:W).toAttribute(t,s.type);this._$Em=e,o==null?this.removeAttribute(i):this.setAttribute(i,o),this._$Em=null}}_$AK(e,t){let s=this.constructor,i=s._$Eh.get(e);if(i!==void 0&&this._$Em!==i){let o=s.getPropertyOptions(i),n=typeof o.converter=="function"?{fromAttribute:o.converter}:o.converter?.fromAttribute!==void 0?o.converter:W;this._$Em=i;let a=n.fromAttribute(t,o.type);this[i]=a??this._$Ej?.get(i)??a,this._$Em=null}}requestUpdate(e,t,s,i=!1,o){if(e!==void 0){let n=this.constructor;if(i===!1&&(o=this[e]),s??=n.getPropertyOptions(e),!((s.hasChanged??st)(o,t)||s.useDefault&&s.reflect&&o===this._$Ej?.get(e)&&!this.hasAttribute(n._$Eu(e,s))))return;this.C(e,t,s)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(e,t,{useDefault:s,reflect:i,wrapped:o},n){s&&!(this._$Ej??=new Map).has(e)&&(this._$Ej.set(e,n??t??this[e]),o!==!0||n!==void 0)||(this._$AL.has(e)||(this.hasUpdated||s||(t=void 0),this._$AL.set(e,t)),i===!0&&this._$Em!==e&&(this._$Eq??=new Set).add(e))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(t){Promise.reject(t)}let e=this.scheduleUpdate();return e!=null&&await e,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[i,o]of this._$Ep)this[i]=o;this._$Ep=void 0}let s=this.constructor.elementProperties;if(s.size>0)for(let[i,o]of s){let{wrapped:n}=o,a=this[i];n!==!0||this._$AL.has(i)||a===void 0||this.C(i,void 0,o,a)}}let e=!1,t=this._$AL;try{e=this.shouldUpdate(t),e?(this.willUpdate(t),this._$EO?.forEach(s=>s.hostUpdate?.()),this.update(t)):this._$EM()}catch(s){throw e=!1,this._$EM(),s}e&&this._$AE(t)}willUpdate(e){}_$AE(e){this._$EO?.forEach(t=>t.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(e)),this.updated(e)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(e){return!0}update(e){this._$Eq&&=this._$Eq.forEach(t=>this._$ET(t,this[t])),this._$EM()}updated(e){}firstUpdated(e){}};E.elementStyles=[],E.shadowRootOptions={mode:"open"},E[G("elementProperties")]=new Map,E[G("finalized")]=new Map,$e?.({ReactiveElement:E}),(et.reactiveElementVersions??=[]).push("2.1.2");var _t=globalThis,Lt=r=>r,it=_t.trustedTypes,qt=it?it.createPolicy("lit-html",{createHTML:r=>r}):void 0,wt="$lit$",S=`lit$${Math.random().toFixed(9).slice(2)}$`,At="?"+S,ye=`<${At}>`,D=document,K=()=>D.createComment(""),Z=r=>r===null||typeof r!="object"&&typeof r!="function",kt=Array.isArray,Gt=r=>kt(r)||typeof r?.[Symbol.iterator]=="function",bt=`[ 	
\f\r]`,V=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,It=/-->/g,jt=/>/g,O=RegExp(`>|${bt}(?:([^\\s"'>=/]+)(${bt}*=${bt}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),zt=/'/g,Ft=/"/g,Wt=/^(?:script|style|textarea|title)$/i,Et=r=>(e,...t)=>({_$litType$:r,strings:e,values:t}),c=Et(1),St=Et(2),We=Et(3),x=Symbol.for("lit-noChange"),d=Symbol.for("lit-nothing"),Bt=new WeakMap,U=D.createTreeWalker(D,129);function Vt(r,e){if(!kt(r)||!r.hasOwnProperty("raw"))throw Error("invalid template strings array");return qt!==void 0?qt.createHTML(e):e}var Kt=(r,e)=>{let t=r.length-1,s=[],i,o=e===2?"<svg>":e===3?"<math>":"",n=V;for(let a=0;a<t;a++){let l=r[a],p,g,h=-1,f=0;for(;f<l.length&&(n.lastIndex=f,g=n.exec(l),g!==null);)f=n.lastIndex,n===V?g[1]==="!--"?n=It:g[1]!==void 0?n=jt:g[2]!==void 0?(Wt.test(g[2])&&(i=RegExp("</"+g[2],"g")),n=O):g[3]!==void 0&&(n=O):n===O?g[0]===">"?(n=i??V,h=-1):g[1]===void 0?h=-2:(h=n.lastIndex-g[2].length,p=g[1],n=g[3]===void 0?O:g[3]==='"'?Ft:zt):n===Ft||n===zt?n=O:n===It||n===jt?n=V:(n=O,i=void 0);let m=n===O&&r[a+1].startsWith("/>")?" ":"";o+=n===V?l+ye:h>=0?(s.push(p),l.slice(0,h)+wt+l.slice(h)+S+m):l+S+(h===-2?a:m)}return[Vt(r,o+(r[t]||"<?>")+(e===2?"</svg>":e===3?"</math>":"")),s]},Q=class r{constructor({strings:e,_$litType$:t},s){let i;this.parts=[];let o=0,n=0,a=e.length-1,l=this.parts,[p,g]=Kt(e,t);if(this.el=r.createElement(p,s),U.currentNode=this.el.content,t===2||t===3){let h=this.el.content.firstChild;h.replaceWith(...h.childNodes)}for(;(i=U.nextNode())!==null&&l.length<a;){if(i.nodeType===1){if(i.hasAttributes())for(let h of i.getAttributeNames())if(h.endsWith(wt)){let f=g[n++],m=i.getAttribute(h).split(S),$=/([.?@])?(.*)/.exec(f);l.push({type:1,index:o,name:$[2],strings:m,ctor:$[1]==="."?ot:$[1]==="?"?nt:$[1]==="@"?at:L}),i.removeAttribute(h)}else h.startsWith(S)&&(l.push({type:6,index:o}),i.removeAttribute(h));if(Wt.test(i.tagName)){let h=i.textContent.split(S),f=h.length-1;if(f>0){i.textContent=it?it.emptyScript:"";for(let m=0;m<f;m++)i.append(h[m],K()),U.nextNode(),l.push({type:2,index:++o});i.append(h[f],K())}}}else if(i.nodeType===8)if(i.data===At)l.push({type:2,index:o});else{let h=-1;for(;(h=i.data.indexOf(S,h+1))!==-1;)l.push({type:7,index:o}),h+=S.length-1}o++}}static createElement(e,t){let s=D.createElement("template");return s.innerHTML=e,s}};function N(r,e,t=r,s){if(e===x)return e;let i=s!==void 0?t._$Co?.[s]:t._$Cl,o=Z(e)?void 0:e._$litDirective$;return i?.constructor!==o&&(i?._$AO?.(!1),o===void 0?i=void 0:(i=new o(r),i._$AT(r,t,s)),s!==void 0?(t._$Co??=[])[s]=i:t._$Cl=i),i!==void 0&&(e=N(r,i._$AS(r,e.values),i,s)),e}var rt=class{constructor(e,t){this._$AV=[],this._$AN=void 0,this._$AD=e,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(e){let{el:{content:t},parts:s}=this._$AD,i=(e?.creationScope??D).importNode(t,!0);U.currentNode=i;let o=U.nextNode(),n=0,a=0,l=s[0];for(;l!==void 0;){if(n===l.index){let p;l.type===2?p=new z(o,o.nextSibling,this,e):l.type===1?p=new l.ctor(o,l.name,l.strings,this,e):l.type===6&&(p=new lt(o,this,e)),this._$AV.push(p),l=s[++a]}n!==l?.index&&(o=U.nextNode(),n++)}return U.currentNode=D,i}p(e){let t=0;for(let s of this._$AV)s!==void 0&&(s.strings!==void 0?(s._$AI(e,s,t),t+=s.strings.length-2):s._$AI(e[t])),t++}},z=class r{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(e,t,s,i){this.type=2,this._$AH=d,this._$AN=void 0,this._$AA=e,this._$AB=t,this._$AM=s,this.options=i,this._$Cv=i?.isConnected??!0}get parentNode(){let e=this._$AA.parentNode,t=this._$AM;return t!==void 0&&e?.nodeType===11&&(e=t.parentNode),e}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(e,t=this){e=N(this,e,t),Z(e)?e===d||e==null||e===""?(this._$AH!==d&&this._$AR(),this._$AH=d):e!==this._$AH&&e!==x&&this._(e):e._$litType$!==void 0?this.$(e):e.nodeType!==void 0?this.T(e):Gt(e)?this.k(e):this._(e)}O(e){return this._$AA.parentNode.insertBefore(e,this._$AB)}T(e){this._$AH!==e&&(this._$AR(),this._$AH=this.O(e))}_(e){this._$AH!==d&&Z(this._$AH)?this._$AA.nextSibling.data=e:this.T(D.createTextNode(e)),this._$AH=e}$(e){let{values:t,_$litType$:s}=e,i=typeof s=="number"?this._$AC(e):(s.el===void 0&&(s.el=Q.createElement(Vt(s.h,s.h[0]),this.options)),s);if(this._$AH?._$AD===i)this._$AH.p(t);else{let o=new rt(i,this),n=o.u(this.options);o.p(t),this.T(n),this._$AH=o}}_$AC(e){let t=Bt.get(e.strings);return t===void 0&&Bt.set(e.strings,t=new Q(e)),t}k(e){kt(this._$AH)||(this._$AH=[],this._$AR());let t=this._$AH,s,i=0;for(let o of e)i===t.length?t.push(s=new r(this.O(K()),this.O(K()),this,this.options)):s=t[i],s._$AI(o),i++;i<t.length&&(this._$AR(s&&s._$AB.nextSibling,i),t.length=i)}_$AR(e=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);e!==this._$AB;){let s=Lt(e).nextSibling;Lt(e).remove(),e=s}}setConnected(e){this._$AM===void 0&&(this._$Cv=e,this._$AP?.(e))}},L=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(e,t,s,i,o){this.type=1,this._$AH=d,this._$AN=void 0,this.element=e,this.name=t,this._$AM=i,this.options=o,s.length>2||s[0]!==""||s[1]!==""?(this._$AH=Array(s.length-1).fill(new String),this.strings=s):this._$AH=d}_$AI(e,t=this,s,i){let o=this.strings,n=!1;if(o===void 0)e=N(this,e,t,0),n=!Z(e)||e!==this._$AH&&e!==x,n&&(this._$AH=e);else{let a=e,l,p;for(e=o[0],l=0;l<o.length-1;l++)p=N(this,a[s+l],t,l),p===x&&(p=this._$AH[l]),n||=!Z(p)||p!==this._$AH[l],p===d?e=d:e!==d&&(e+=(p??"")+o[l+1]),this._$AH[l]=p}n&&!i&&this.j(e)}j(e){e===d?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,e??"")}},ot=class extends L{constructor(){super(...arguments),this.type=3}j(e){this.element[this.name]=e===d?void 0:e}},nt=class extends L{constructor(){super(...arguments),this.type=4}j(e){this.element.toggleAttribute(this.name,!!e&&e!==d)}},at=class extends L{constructor(e,t,s,i,o){super(e,t,s,i,o),this.type=5}_$AI(e,t=this){if((e=N(this,e,t,0)??d)===x)return;let s=this._$AH,i=e===d&&s!==d||e.capture!==s.capture||e.once!==s.once||e.passive!==s.passive,o=e!==d&&(s===d||i);i&&this.element.removeEventListener(this.name,this,s),o&&this.element.addEventListener(this.name,this,e),this._$AH=e}handleEvent(e){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,e):this._$AH.handleEvent(e)}},lt=class{constructor(e,t,s){this.element=e,this.type=6,this._$AN=void 0,this._$AM=t,this.options=s}get _$AU(){return this._$AM._$AU}_$AI(e){N(this,e)}},Zt={M:wt,P:S,A:At,C:1,L:Kt,R:rt,D:Gt,V:N,I:z,H:L,N:nt,U:at,B:ot,F:lt},xe=_t.litHtmlPolyfillSupport;xe?.(Q,z),(_t.litHtmlVersions??=[]).push("3.3.3");var Qt=(r,e,t)=>{let s=t?.renderBefore??e,i=s._$litPart$;if(i===void 0){let o=t?.renderBefore??null;s._$litPart$=i=new z(e.insertBefore(K(),o),o,void 0,t??{})}return i._$AI(r),i};var Tt=globalThis,w=class extends E{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let e=super.createRenderRoot();return this.renderOptions.renderBefore??=e.firstChild,e}update(e){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(e),this._$Do=Qt(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return x}};w._$litElement$=!0,w.finalized=!0,Tt.litElementHydrateSupport?.({LitElement:w});var be=Tt.litElementPolyfillSupport;be?.({LitElement:w});(Tt.litElementVersions??=[]).push("4.2.2");var P=r=>(e,t)=>{t!==void 0?t.addInitializer(()=>{customElements.define(r,e)}):customElements.define(r,e)};var _e={attribute:!0,type:String,converter:W,reflect:!1,hasChanged:st},we=(r=_e,e,t)=>{let{kind:s,metadata:i}=t,o=globalThis.litPropertyMetadata.get(i);if(o===void 0&&globalThis.litPropertyMetadata.set(i,o=new Map),s==="setter"&&((r=Object.create(r)).wrapped=!0),o.set(t.name,r),s==="accessor"){let{name:n}=t;return{set(a){let l=e.get.call(this);e.set.call(this,a),this.requestUpdate(n,l,r,!0,a)},init(a){return a!==void 0&&this.C(n,void 0,r,a),a}}}if(s==="setter"){let{name:n}=t;return function(a){let l=this[n];e.call(this,a),this.requestUpdate(n,l,r,!0,a)}}throw Error("Unsupported decorator location: "+s)};function T(r){return(e,t)=>typeof t=="object"?we(r,e,t):((s,i,o)=>{let n=i.hasOwnProperty(o);return i.constructor.createProperty(o,s),n?Object.getOwnPropertyDescriptor(i,o):void 0})(r,e,t)}function v(r){return T({...r,state:!0,attribute:!1})}var q=(r,e,t)=>(t.configurable=!0,t.enumerable=!0,Reflect.decorate&&typeof e!="object"&&Object.defineProperty(r,e,t),t);function Ct(r,e){return(t,s,i)=>{let o=n=>n.renderRoot?.querySelector(r)??null;if(e){let{get:n,set:a}=typeof s=="object"?t:i??(()=>{let l=Symbol();return{get(){return this[l]},set(p){this[l]=p}}})();return q(t,s,{get(){let l=n.call(this);return l===void 0&&(l=o(this),(l!==null||this.hasUpdated)&&a.call(this,l)),l}})}return q(t,s,{get(){return o(this)}})}}function ct(r){return typeof r=="object"&&r!==null&&"code"in r&&"message"in r?r:{code:"unknown",message:String(r)}}function dt(r,e=!1){e?history.replaceState(history.state,"",r):history.pushState(null,"",r),dispatchEvent(new CustomEvent("location-changed",{detail:{replace:e}}))}var R=_`
  * {
    box-sizing: border-box;
  }
  h1,
  h2,
  h3,
  p,
  ul,
  ol,
  dl,
  dd,
  pre {
    margin: 0;
  }
  h2 {
    font-size: 18px;
    font-weight: 500;
  }
  h3 {
    font-size: 14px;
    font-weight: 500;
  }
  a {
    color: inherit;
    text-decoration-color: var(--primary-color);
    text-underline-offset: 3px;
  }
  ul,
  ol {
    padding: 0;
    list-style: none;
  }
  .page {
    max-width: 1040px;
    margin: 0 auto;
    padding: 16px;
    display: grid;
    gap: 24px;
  }
  .page > section {
    display: grid;
    gap: 8px;
    min-width: 0;
  }
  .card {
    background: var(--card-background-color);
    border: 1px solid var(--divider-color);
    border-radius: var(--ha-card-border-radius, 12px);
    padding: 12px 16px;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .cards {
    display: grid;
    gap: 8px;
  }
  .sentence::first-letter {
    text-transform: uppercase;
  }
  .quiet {
    color: var(--secondary-text-color);
  }
  .small {
    font-size: 12px;
  }
  .figure {
    font-variant-numeric: tabular-nums;
    white-space: nowrap;
  }
  .row {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px;
  }
  .spread {
    justify-content: space-between;
  }
  .note {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: space-between;
    gap: 8px;
    padding: 12px 16px;
    border-radius: 8px;
    border: 1px solid var(--divider-color);
    background: var(--card-background-color);
  }
  .dot {
    flex: none;
    width: 10px;
    height: 10px;
    border-radius: 5px;
    background: var(--success-color, #43a047);
  }
  .dot.bad {
    background: var(--error-color);
  }
  .dot.notable {
    background: var(--warning-color);
  }
  .note[role="alert"] {
    border-color: var(--error-color);
  }
  .mark {
    display: inline-block;
    padding: 1px 8px;
    border-radius: 10px;
    border: 1px solid var(--divider-color);
    font-size: 12px;
    line-height: 18px;
    color: var(--primary-text-color);
  }
  .mark.bad {
    border-color: var(--error-color);
  }
  .mark.notable {
    border-color: var(--warning-color);
  }
  button,
  input,
  select,
  textarea {
    font: inherit;
    color: var(--primary-text-color);
    background: var(--card-background-color);
    border: 1px solid var(--outline-color, var(--divider-color));
    border-radius: 8px;
    min-height: 40px;
    padding: 0 12px;
    max-width: 100%;
  }
  button,
  select {
    cursor: pointer;
  }
  button:hover {
    background: var(--secondary-background-color);
  }
  button.main,
  button[aria-pressed="true"] {
    border-color: var(--primary-color);
    box-shadow: inset 0 0 0 1px var(--primary-color);
  }
  button.danger {
    border-color: var(--error-color);
  }
  button:disabled {
    opacity: 0.6;
    cursor: default;
  }
  label {
    display: inline-grid;
    gap: 4px;
    font-size: 12px;
    color: var(--secondary-text-color);
  }
  label > * {
    font-size: 14px;
  }
  .check {
    display: flex;
    align-items: center;
    gap: 12px;
  }
  .check input {
    flex: none;
    width: 20px;
    min-height: 20px;
    accent-color: var(--primary-color);
  }
  :focus-visible {
    outline: 2px solid var(--primary-color);
    outline-offset: 2px;
  }
  details > summary {
    cursor: pointer;
    padding: 4px 0;
  }
  pre {
    font-family: var(--ha-font-family-code, monospace);
    font-size: 12px;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    padding: 8px;
    border-radius: 8px;
    background: var(--secondary-background-color);
  }
  dialog {
    color: var(--primary-text-color);
    background: var(--card-background-color);
    border: 1px solid var(--divider-color);
    border-radius: 16px;
    padding: 24px;
    width: min(440px, calc(100vw - 32px));
  }
  dialog::backdrop {
    background: rgb(0 0 0 / 50%);
  }
  dialog form {
    display: grid;
    gap: 16px;
  }
  dialog .row {
    justify-content: flex-end;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`;var Ae=["config_panel","exceptions"],ke="component.chatterbox.",ht=class r{constructor(e,t){this.texts=t;let{time_format:s,time_zone:i}=e.locale;this.language=e.language,this.zone=i==="server"?{timeZone:e.config.time_zone}:{};let o=s==="12"||s==="24"?{hour12:s==="12"}:{},n={...this.zone,...o,hour:"numeric",minute:"2-digit"},a={...this.zone,weekday:"short",day:"numeric",month:"short"};this.clock=new Intl.DateTimeFormat(this.language,n),this.days=new Intl.DateTimeFormat(this.language,a),this.dayAndClock=new Intl.DateTimeFormat(this.language,{...a,...n}),this.numbers=new Intl.NumberFormat(this.language)}static async load(e){let t=Ae.map(s=>e.callWS({type:"frontend/get_translations",language:e.language,category:s,integration:["chatterbox"]}));return new r(e,Object.assign({},...(await Promise.all(t)).map(({resources:s})=>s)))}text(e,t={}){return this.filled(`config_panel.${e}`,t)??e}choice(e,t){return this.filled(`config_panel.${e}.${t}`)??t}reason(e,t={}){return this.filled(`exceptions.${e}.message`,t)}failure(e){let{code:t,message:s,translation_key:i,translation_placeholders:o}=e;return(i?this.reason(i,o):void 0)??this.filled(`config_panel.error.${t}`,o)??s}filled(e,t={}){return this.texts[ke+e]?.replace(/\{(\w+)\}/g,(s,i)=>String(t[i]??s))}number(e){return this.numbers.format(e)}seconds(e){let[t,s,i]=e<.1?[e*1e3,"millisecond",0]:e<100?[e,"second",e<10?1:0]:[e/60,"minute",0];return new Intl.NumberFormat(this.language,{style:"unit",unit:s,unitDisplay:"short",minimumFractionDigits:i,maximumFractionDigits:i}).format(t)}countdown(e){return`${Math.floor(e/60)}:${String(e%60).padStart(2,"0")}`}money(e){let t=e===0||e>=1?2:e>=.01?3:5;return new Intl.NumberFormat(this.language,{style:"currency",currency:"USD",minimumFractionDigits:2,maximumFractionDigits:t}).format(e)}time(e){return this.clock.format(e*1e3)}day(e){return this.days.format(e*1e3)}fullMoment(e){return this.dayAndClock.format(e*1e3)}moment(e){return this.day(e)===this.day(Date.now()/1e3)?this.time(e):this.fullMoment(e)}fieldOf(e){return new Intl.DateTimeFormat("sv",{...this.zone,dateStyle:"short",timeStyle:"short"}).format(e*1e3).replace(" ","T")}ofField(e){let t=Date.parse(`${e}Z`)/1e3,s=i=>Date.parse(`${this.fieldOf(i)}Z`)/1e3-Math.floor(i/60)*60;return t-s(t-s(t))}};var{I:Ee}=Zt,Jt=r=>r;var Xt=r=>r.strings===void 0,Yt=()=>document.createComment(""),F=(r,e,t)=>{let s=r._$AA.parentNode,i=e===void 0?r._$AB:e._$AA;if(t===void 0){let o=s.insertBefore(Yt(),i),n=s.insertBefore(Yt(),i);t=new Ee(o,n,r,r.options)}else{let o=t._$AB.nextSibling,n=t._$AM,a=n!==r;if(a){let l;t._$AQ?.(r),t._$AM=r,t._$AP!==void 0&&(l=r._$AU)!==n._$AU&&t._$AP(l)}if(o!==i||a){let l=t._$AA;for(;l!==o;){let p=Jt(l).nextSibling;Jt(s).insertBefore(l,i),l=p}}}return t},M=(r,e,t=r)=>(r._$AI(e,t),r),Se={},te=(r,e=Se)=>r._$AH=e,ee=r=>r._$AH,pt=r=>{r._$AR(),r._$AA.remove()};var ut={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},I=r=>(...e)=>({_$litDirective$:r,values:e}),H=class{constructor(e){}get _$AU(){return this._$AM._$AU}_$AT(e,t,s){this._$Ct=e,this._$AM=t,this._$Ci=s}_$AS(e,t){return this.update(e,t)}update(e,t){return this.render(...t)}};var J=(r,e)=>{let t=r._$AN;if(t===void 0)return!1;for(let s of t)s._$AO?.(e,!1),J(s,e);return!0},mt=r=>{let e,t;do{if((e=r._$AM)===void 0)break;t=e._$AN,t.delete(r),r=e}while(t?.size===0)},se=r=>{for(let e;e=r._$AM;r=e){let t=e._$AN;if(t===void 0)e._$AN=t=new Set;else if(t.has(r))break;t.add(r),Pe(e)}};function Te(r){this._$AN!==void 0?(mt(this),this._$AM=r,se(this)):this._$AM=r}function Ce(r,e=!1,t=0){let s=this._$AH,i=this._$AN;if(i!==void 0&&i.size!==0)if(e)if(Array.isArray(s))for(let o=t;o<s.length;o++)J(s[o],!1),mt(s[o]);else s!=null&&(J(s,!1),mt(s));else J(this,r)}var Pe=r=>{r.type==ut.CHILD&&(r._$AP??=Ce,r._$AQ??=Te)},ft=class extends H{constructor(){super(...arguments),this._$AN=void 0}_$AT(e,t,s){super._$AT(e,t,s),se(this),this.isConnected=e._$AU}_$AO(e,t=!0){e!==this.isConnected&&(this.isConnected=e,e?this.reconnected?.():this.disconnected?.()),t&&(J(this,e),mt(this))}setValue(e){if(Xt(this._$Ct))this._$Ct._$AI(e,this);else{let t=[...this._$Ct._$AH];t[this._$Ci]=e,this._$Ct._$AI(t,this,0)}}disconnected(){}reconnected(){}};var Pt=new WeakMap,gt=I(class extends ft{render(r){return d}update(r,[e]){let t=e!==this.G;return t&&this.rt(void 0),(t||this.lt!==this.ct)&&(this.G=e,this.ht=r.options?.host,this.rt(this.ct=r.element)),d}rt(r){if(this.G!==void 0)if(this.isConnected||(r=void 0),typeof this.G=="function"){let e=this.ht??globalThis,t=Pt.get(e);t===void 0&&(t=new WeakMap,Pt.set(e,t)),t.get(this.G)!==void 0&&this.G.call(this.ht,void 0),t.set(this.G,r),r!==void 0&&this.G.call(this.ht,r)}else this.G.value=r}get lt(){return typeof this.G=="function"?Pt.get(this.ht??globalThis)?.get(this.G):this.G?.value}disconnected(){this.lt===this.ct&&this.rt(void 0)}reconnected(){this.rt(this.ct)}});var ie=(r,e,t)=>{let s=new Map;for(let i=e;i<=t;i++)s.set(r[i],i);return s},Y=I(class extends H{constructor(r){if(super(r),r.type!==ut.CHILD)throw Error("repeat() can only be used in text expressions")}dt(r,e,t){let s;t===void 0?t=e:e!==void 0&&(s=e);let i=[],o=[],n=0;for(let a of r)i[n]=s?s(a,n):n,o[n]=t(a,n),n++;return{values:o,keys:i}}render(r,e,t){return this.dt(r,e,t).values}update(r,[e,t,s]){let i=ee(r),{values:o,keys:n}=this.dt(e,t,s);if(!Array.isArray(i))return this.ut=n,o;let a=this.ut??=[],l=[],p,g,h=0,f=i.length-1,m=0,$=o.length-1;for(;h<=f&&m<=$;)if(i[h]===null)h++;else if(i[f]===null)f--;else if(a[h]===n[m])l[m]=M(i[h],o[m]),h++,m++;else if(a[f]===n[$])l[$]=M(i[f],o[$]),f--,$--;else if(a[h]===n[$])l[$]=M(i[h],o[$]),F(r,l[$+1],i[h]),h++,$--;else if(a[f]===n[m])l[m]=M(i[f],o[m]),F(r,i[h],i[f]),f--,m++;else if(p===void 0&&(p=ie(n,m,$),g=ie(a,h,f)),p.has(a[h]))if(p.has(a[f])){let k=g.get(n[m]),$t=k!==void 0?i[k]:null;if($t===null){let Mt=F(r,i[h]);M(Mt,o[m]),l[m]=Mt}else l[m]=M($t,o[m]),F(r,i[h],$t),i[k]=null;m++}else pt(i[f]),f--;else pt(i[h]),h++;for(;m<=$;){let k=F(r,l[$+1]);M(k,o[m]),l[m++]=k}for(;h<=f;){let k=i[h++];k!==null&&pt(k)}return this.ut=n,te(r,l),x}});var b=class extends w{constructor(){super(...arguments);this.path="";this.unsubscribe=[]}disconnectedCallback(){super.disconnectedCallback(),this.stop()}updated(t){(t.has("page")||t.has("path"))&&this.start()}async start(){this.stop(),await this.attempt(()=>this.load())}async attempt(t){try{let s=await t();return this.failure=void 0,s}catch(s){this.failure=ct(s);return}}async call(t,s={}){return this.page.hass.callWS({type:`chatterbox/${t}`,...s})}async subscribe(t,s,i={}){let o=await this.page.hass.connection.subscribeMessage(a=>{this.isConnected&&s(a)},{type:`chatterbox/${t}`,...i}),n=()=>{o().catch(()=>{})};this.isConnected?this.unsubscribe.push(n):n()}stop(){for(let t of this.unsubscribe.splice(0))t()}text(t,s={}){return this.page.texts.text(t,s)}failureNote(){return this.failure?c`<div class="note" role="alert">
      <span>${this.page.texts.failure(this.failure)}</span>
      <button @click=${()=>{this.start()}}>${this.text("page.retry")}</button>
    </div>`:d}async confirm(t,s){return new Promise(i=>{this.confirmation={question:t,button:s,answer:i}})}confirmationDialog(){if(!this.confirmation)return d;let{question:t,button:s,answer:i}=this.confirmation;return c`<dialog
      ${gt(Rt)}
      aria-labelledby="question"
      @close=${o=>{this.confirmation=void 0,i(o.target.returnValue==="yes")}}
    >
      <form method="dialog">
        <p id="question">${t}</p>
        <div class="row">
          <button value="">${this.text("page.back")}</button>
          <button value="yes" class="danger">${s}</button>
        </div>
      </form>
    </dialog>`}};u([T({attribute:!1})],b.prototype,"page",2),u([T()],b.prototype,"path",2),u([v()],b.prototype,"confirmation",2),u([v()],b.prototype,"failure",2);function Rt(r){r instanceof HTMLDialogElement&&queueMicrotask(()=>r.isConnected&&r.showModal())}var C=class extends b{constructor(){super(...arguments);this.clock=Date.now()/1e3;this.outcome=""}async load(){await this.subscribe("now/subscribe",t=>{this.now=t})}disconnectedCallback(){super.disconnectedCallback(),this.tick(!1)}updated(t){super.updated(t),this.isConnected&&this.tick(!!this.now?.questions.length)}tick(t){t&&this.ticking===void 0?(this.clock=Date.now()/1e3,this.ticking=setInterval(()=>this.clock=Date.now()/1e3,1e3)):t||(clearInterval(this.ticking),this.ticking=void 0)}render(){let{now:t}=this;return c`<div class="page" aria-busy=${!t}>
      ${this.failureNote()}
      <p class="outcome" role="status">${this.outcome}</p>
      ${t?c`
              ${t.questions.length?c`<section>
                      <h2>${this.text("now.questions")}</h2>
                      <ul class="cards">
                        ${Y(t.questions,s=>s.id,s=>c`<li class="card question">${this.question(s)}</li>`)}
                      </ul>
                    </section>`:d}
              <section>
                <h2>${this.text("now.agents")}</h2>
                ${t.agents.length?d:c`<p class="quiet">${this.text("now.no_agents")}</p>`}
                <ul class="cards">
                  ${t.agents.map(s=>c`<li class="card agent">${this.agent(s)}</li>`)}
                </ul>
              </section>
              <section>
                <h2>${this.text("now.plans")}</h2>
                ${t.plans.length?c`<ul class="cards">
                        ${Y(t.plans,s=>s.id,s=>c`<li class="card plan">${this.plan(s)}</li>`)}
                      </ul>`:c`<p class="quiet">${this.text("now.no_plans")}</p>`}
              </section>
              ${this.page.info.is_admin?c`<label class="check">
                      <input type="checkbox" ?checked=${this.page.info.everyone} @change=${this.share} />
                      <span>${this.text("now.everyone")}</span>
                    </label>`:d}
            `:d}
      ${this.edited?this.editor(this.edited):d} ${this.confirmationDialog()}
    </div>`}async share(t){let s=t.target;await this.attempt(()=>this.call("page/share",{everyone:s.checked}))===void 0&&(s.checked=!s.checked)}agent(t){let{texts:s}=this.page,i=t.state==="ok"||t.state==="offline",o=[s.choice("agent",t.state)];!i&&t.since_at&&o.push(this.text("now.since",{time:s.moment(t.since_at)})),!i&&t.stands_in&&o.push(this.text("now.stands_in",{name:t.stands_in}));let n=i?"":t.stands_in?"notable":"bad";return c`<div>
        <h3 class="row"><span class="dot ${n}"></span>${t.name}</h3>
        <p class=${i?"quiet":""}>${o.join(" · ")}</p>
        ${t.detail?c`<p>${t.detail}</p>`:d}
      </div>
      ${t.turns_today===null?d:c`<dl>
              ${this.figure("now.today",s.number(t.turns_today))}
              ${this.figure("now.wait",t.usual_wait_ms===null?"–":s.seconds(t.usual_wait_ms/1e3))}
              ${this.figure("now.month",t.cost_month===null?"–":s.money(t.cost_month))}
            </dl>`}`}figure(t,s){return c`<div>
      <dt class="quiet small">${this.text(t)}</dt>
      <dd class="figure">${s}</dd>
    </div>`}question(t){let{texts:s}=this.page,i=Math.max(0,Math.round(t.expires_at-this.clock)),o=[t.agent,t.person,t.place].filter(Boolean).join(" · ");return c`
      <div class="row spread">
        <h3>${t.text}</h3>
        <span class="figure quiet" role="timer">${this.text("now.left",{time:s.countdown(i)})}</span>
      </div>
      <p class="quiet">
        ${t.words?c`<q>${t.words}</q> · `:d}${o}
        ${t.turn_id?c`· <a href="/chatterbox/turns/${encodeURIComponent(t.turn_id)}">${this.text("now.turn")}</a>`:d}
      </p>
      ${t.calls.map(n=>c`<p class="sentence">${n.sentence}</p>`)}
      <form class="row" @submit=${n=>this.answer(n,t)}>
        ${t.may_answer===null?c`
                ${t.needs_pin?c`<label
                        >${this.text("now.pin")}<input
                          name="pin"
                          type="password"
                          inputmode="numeric"
                          autocomplete="off"
                          required
                          size="8"
                      /></label>`:d}
                <button class="main" value="yes">${this.text("now.yes")}</button>
              `:d}
        <button value="no" formnovalidate>${this.text("now.no")}</button>
        ${t.may_answer===null?d:c`<span class="quiet reason"
                >${s.reason(t.may_answer)??this.text(`now.${t.who}`)}</span
              >`}
      </form>
    `}answer(t,s){t.preventDefault();let i=t.target,o=t.submitter?.value!=="no",n=String(new FormData(i).get("pin")??"");i.reset(),this.attempt(async()=>{let a={question_id:s.id,approved:o,...o&&n?{password:n}:{}};this.outcome=(await this.call("question/answer",a)).speech})}plan(t){let{texts:s}=this.page,i=[t.due_at===null?"":s.moment(t.due_at),t.condition??"",t.every?s.choice("every",t.every):""].filter(Boolean),o=[t.agent,t.person,t.place].filter(Boolean).join(" · ");return c`
      <div>
        <h3 class="sentence">${t.text}</h3>
        <p class="quiet">${[s.choice("plan",t.kind),...i].join(" · ")}<br />${o}</p>
      </div>
      ${t.is_begun?d:c`<div class="row">
              ${t.can_change&&t.due_at!==null||t.can_rename?c`<button
                      aria-label="${this.text("now.edit")}: ${t.text}"
                      @click=${()=>this.edited=t}
                    >
                      ${this.text("now.edit")}
                    </button>`:d}
              <button aria-label="${this.text("now.cancel")}: ${t.text}" @click=${()=>{this.cancel(t)}}>
                ${this.text("now.cancel")}
              </button>
            </div>`}
    `}async cancel(t){await this.confirm(this.text("now.cancel_question",{plan:t.text}),this.text("now.cancel"))&&await this.attempt(()=>this.call("plan/cancel",{plan_id:t.id}))}editor(t){let{texts:s}=this.page;return c`<dialog ${gt(Rt)} aria-labelledby="edited" @close=${()=>this.edited=void 0}>
      <form method="dialog" @submit=${i=>this.change(i,t)}>
        <h2 id="edited">${t.text}</h2>
        ${t.can_rename?c`<label
                >${this.text("now.text")}<input name="text" required maxlength="200" .value=${t.text}
              /></label>`:d}
        ${t.can_change&&t.due_at!==null?c`<label
                >${this.text("now.due")}<input
                  name="due"
                  type="datetime-local"
                  required
                  .value=${s.fieldOf(t.due_at)}
              /></label>`:d}
        <div class="row">
          <button value="" formnovalidate>${this.text("page.back")}</button>
          <button class="main" value="save">${this.text("page.save")}</button>
        </div>
      </form>
    </dialog>`}change(t,s){if(t.submitter?.value!=="save")return;let i=new FormData(t.target),[o,n]=[i.get("text"),i.get("due")],{texts:a}=this.page,l={...o!==null&&o!==s.text?{text:o}:{},...n!==null&&n!==a.fieldOf(s.due_at??0)?{due_at:a.ofField(String(n))}:{}};Object.keys(l).length&&this.attempt(()=>this.call("plan/change",{plan_id:s.id,...l}))}};C.styles=[R,_`
      .question {
        display: grid;
        gap: 8px;
        border-color: var(--warning-color);
      }
      .agent,
      .plan {
        display: flex;
        flex-wrap: wrap;
        justify-content: space-between;
        align-items: center;
        gap: 8px 24px;
      }
      .agent > :first-child,
      .plan > :first-child {
        flex: 1 1 240px;
        min-width: 0;
      }
      dl {
        display: flex;
        flex-wrap: wrap;
        gap: 4px 24px;
      }
      .reason {
        flex: 1 1 240px;
        align-self: center;
      }
      form.row {
        align-items: end;
      }
      .outcome:empty {
        display: none;
      }
    `],u([v()],C.prototype,"now",2),u([v()],C.prototype,"clock",2),u([v()],C.prototype,"edited",2),u([v()],C.prototype,"outcome",2),C=u([P("chatterbox-now")],C);var Re=new Set(["failed","not_done","cut_short"]),Me=new Set(["asked","stood_in","outside"]);function vt(r,e){let t=Re.has(r.kind)?"mark sentence bad":Me.has(r.kind)?"mark sentence notable":"mark sentence";return c`<span class=${t}>${He(r,e)}</span>`}function He({kind:r,text:e},t){switch(r){case"changed":case"not_done":return e||t.text(`mark.${r}`);case"failed":case"cut_short":return t.choice("stop",e)===e?t.text(`mark.${r}`):t.choice("stop",e);default:return t.text(`mark.${r}`,{name:e})}}var j=class extends b{constructor(){super(...arguments);this.notice=""}async load(){this.turn=void 0,this.notice="",this.turn=await this.call("turns/get",{turn_id:this.path})}render(){let{turn:t}=this;return c`<div class="page" aria-busy=${!t&&!this.failure}>
      <nav class="row spread" aria-label=${this.text("turn.conversation")}>
        <a href="/chatterbox/turns">${this.text("turn.all")}</a>
        <span class="row">
          ${this.neighbour("turn.previous",t?.previous)} ${this.neighbour("turn.next",t?.next)}
        </span>
      </nav>
      ${this.failureNote()}
      ${t?[this.summary(t),this.actions(t),this.times(t),this.background(t),this.footer(t)]:d}
      ${this.confirmationDialog()}
    </div>`}neighbour(t,s){return s?c`<a href="/chatterbox/turns/${encodeURIComponent(s)}">${this.text(t)}</a>`:d}summary(t){let{texts:s}=this.page,i=[t.person??t.caller,t.place,t.agent].filter(Boolean).join(" · "),o=t.withheld?this.text(`turn.withheld_${t.withheld}`):t.words_full;return c`<section class="card summary">
      <p class="quiet">${s.fullMoment(t.at)} · ${i}</p>
      <h2>${o||this.text("turns.no_words")}</h2>
      <p class="answer">${t.answer_full||c`<span class="quiet">${this.text("turn.no_answer")}</span>`}</p>
      ${t.marks.length?c`<div class="row">${t.marks.map(n=>vt(n,s))}</div>`:d}
    </section>`}times(t){let{texts:s}=this.page,i=this.spans(t),{usage:o}=t,n=a=>Math.min(100,Math.max(0,100*a/Math.max(1,t.duration_ms)));return c`<section>
      <h2>${this.text("turn.times")}</h2>
      <div class="card">
        <dl class="figures">
          ${this.figure("turn.whole",s.seconds(t.duration_ms/1e3))}
          ${this.figure("turn.first_words",t.first_words_ms===null?"–":s.seconds(t.first_words_ms/1e3))}
          ${o.input_tokens?c`
                  ${this.figure("turn.read",s.number(o.input_tokens))}
                  ${this.figure("turn.cached",s.number(o.cached_tokens))}
                  ${this.figure("turn.written",s.number(o.output_tokens))}
                  ${this.figure("turn.price",t.cost===null?"–":s.money(t.cost))}
                `:d}
        </dl>
        <ol class="spans">
          ${i.map(a=>c`<li>
                <div class="label">
                  <span>${a.label}</span>
                  <span class="figure quiet"
                    >${a.looks==="handover"?d:s.seconds((a.end-a.begin)/1e3)}</span
                  >
                </div>
                <svg class=${a.looks} width="100%" height="10" aria-hidden="true">
                  <rect class="track" width="100%" height="10" rx="2"></rect>
                  ${St`<rect class="wait" x="${n(a.begin)}%" width="${n(a.middle-a.begin)}%" height="10"></rect>
                <rect class="write" x="${n(a.middle)}%" width="max(2px, ${n(a.end-a.middle)}%)" height="10"></rect>`}
                  ${t.first_words_ms===null?d:St`<line x1="${n(t.first_words_ms)}%" x2="${n(t.first_words_ms)}%" y2="10"></line>`}
                </svg>
                ${a.note?c`<div class="quiet small">${a.note}</div>`:d}
              </li>`)}
        </ol>
        ${t.inferences.length?c`<p class="quiet small key">${this.text("turn.key")}</p>`:d}
        <details>
          <summary>${this.text("turn.phases")}</summary>
          <ol class="phases">
            ${t.phases.map(({phase:a,at_ms:l})=>c`<li>
                  <span class="figure quiet">${s.seconds(l/1e3)}</span>
                  ${s.choice("phase",a.toLowerCase())}
                </li>`)}
          </ol>
        </details>
      </div>
    </section>`}figure(t,s){return c`<div>
      <dt class="quiet small">${this.text(t)}</dt>
      <dd class="figure">${s}</dd>
    </div>`}spans(t){let s=t.duration_ms,i=t.inferences.map(a=>{let l=a.duration_ms===null?s:a.began_ms+a.duration_ms,p=a.first_token_ms===null?l:a.began_ms+a.first_token_ms;return{label:a.answered_by||this.text("turn.inference"),note:this.tokens(a),begin:a.began_ms,middle:p,end:l,looks:"model"}}),o=t.tools.flatMap(a=>{if(a.began_ms===null)return[];let l=a.duration_ms===null?s:a.began_ms+a.duration_ms,p=a.is_error?"bad":"tool";return[{label:a.name,note:"",begin:a.began_ms,middle:a.began_ms,end:l,looks:p}]}),n=t.handovers.map(({at_ms:a,to:l,reason:p})=>({label:this.text("turn.handover",{name:l}),note:p,begin:a,middle:a,end:a,looks:"handover"}));return[...i,...o,...n].sort((a,l)=>a.begin-l.begin)}tokens(t){let{texts:s}=this.page,{input_tokens:i,cached_tokens:o,output_tokens:n,cost:a}=t;if(i===null)return this.text("turn.no_tokens");if(i===0)return"";let l={read:s.number(i),cached:s.number(o??0),written:s.number(n??0)};return[this.text("turn.tokens",l),...a?[s.money(a)]:[]].join(" · ")}actions(t){let s=new Set(t.calls.map(o=>o.id)),i=t.changes.filter(({tool_call_id:o})=>o===null||!s.has(o));return!t.calls.length&&!i.length?d:c`<section>
      <h2>${this.text("turn.actions")}</h2>
      <ul class="cards">
        ${t.calls.map(o=>{let n=t.changes.filter(({tool_call_id:a})=>a===o.id);return c`<li class="card call">${this.action(o,n)}</li>`})}
        ${i.map(o=>c`<li class="card call">${this.change(o)}</li>`)}
      </ul>
    </section>`}action(t,s){let i=t.is_error?t.has_run?"turn.failed":"turn.not_run":"";return c`
      <div class="row spread">
        <h3 class="sentence">${t.sentence||t.name}</h3>
        <span class="row">
          ${i?c`<span class="mark bad">${this.text(i)}</span>`:d}
          ${t.is_outside?c`<span class="mark notable">${this.text("mark.outside")}</span>`:d}
        </span>
      </div>
      ${s.map((o,n)=>this.change(o,t.sentence,s[n-1]))}
      <details>
        <summary class="quiet">${this.text("turn.raw")}</summary>
        <p class="small">${t.name}</p>
        <pre>${re(t.arguments)}</pre>
        <pre>${re(t.result)}</pre>
      </details>
    `}change(t,s="",i){let o=this.reasons(t);return c`<div>
      ${t.message===s?d:c`<p class="sentence">${t.message}</p>`}
      ${o&&!(i&&this.reasons(i)===o)?c`<p class="quiet">${o}</p>`:d}
    </div>`}reasons(t){let{texts:s}=this.page,i=t.verdict===null?"":s.choice("verdict",t.verdict),o=t.decided_by.map(a=>s.choice("decided",a)).join(", ");return[i&&o?`${i}: ${o}`:i||o,t.answered_by,t.error].filter(Boolean).join(" · ")}background(t){return!t.context&&!t.outside.length?d:c`<section>
      <h2>${this.text("turn.background")}</h2>
      <div class="card">
        ${t.outside.length?c`<p>${this.text("turn.outside",{tools:t.outside.join(", ")})}</p>`:d}
        ${t.context?c`<details>
                <summary>${this.text("turn.context")}</summary>
                <pre>${t.context}</pre>
              </details>`:d}
      </div>
    </section>`}footer(t){return c`<section>
      <div class="row">
        <button @click=${()=>{this.copy(t)}}>${this.text("turn.copy")}</button>
        <button class="danger" @click=${()=>{this.delete(t)}}>${this.text("turn.delete")}</button>
        <span role="status">${this.notice}</span>
      </div>
      <p class="quiet small">${this.text("turn.copy_note")}</p>
    </section>`}async copy(t){await this.attempt(async()=>{let{report:s}=await this.call("turns/report",{turn_id:t.id});this.notice=this.text(await Oe(s,this.renderRoot)?"turn.copied":"turn.not_copied")})}async delete(t){if(!await this.confirm(this.text("turn.delete_question"),this.text("turn.delete")))return;await this.attempt(()=>this.call("turns/delete",{turn_id:t.id}))&&dt("/chatterbox/turns",!0)}};j.styles=[R,_`
      .summary {
        display: grid;
        gap: 8px;
      }
      .answer {
        white-space: pre-line;
        font-size: 16px;
        line-height: 24px;
      }
      .figures {
        display: flex;
        flex-wrap: wrap;
        gap: 8px 32px;
        margin-bottom: 12px;
      }
      .spans {
        display: grid;
        gap: 10px;
      }
      .label {
        display: flex;
        justify-content: space-between;
        gap: 8px;
      }
      svg {
        display: block;
      }
      .track {
        fill: var(--secondary-background-color);
      }
      .wait {
        fill: var(--primary-color);
        opacity: 0.4;
      }
      .write {
        fill: var(--primary-color);
      }
      .tool .write {
        fill: var(--success-color, #43a047);
      }
      .handover .write {
        fill: var(--warning-color);
      }
      .bad .write {
        fill: var(--error-color);
      }
      line {
        stroke: var(--primary-text-color);
        stroke-dasharray: 2;
      }
      .key {
        margin: 8px 0;
      }
      .phases {
        display: grid;
        gap: 2px;
      }
      .phases .figure {
        display: inline-block;
        min-width: 72px;
      }
      .call {
        display: grid;
        gap: 4px;
      }
      pre + pre {
        margin-top: 8px;
      }
    `],u([v()],j.prototype,"turn",2),u([v()],j.prototype,"notice",2),j=u([P("chatterbox-turn")],j);function re(r){return typeof r=="string"?r:JSON.stringify(r,null,2)}async function Oe(r,e){if(navigator.clipboard)return navigator.clipboard.writeText(r).then(()=>!0,()=>!1);let t=document.createElement("textarea");t.value=r,e.appendChild(t),t.select();let s=document.execCommand("copy");return t.remove(),s}var Ue={},oe=I(class extends H{constructor(){super(...arguments),this.ot=Ue}render(r,e){return e()}update(r,[e,t]){if(Array.isArray(e)){if(Array.isArray(this.ot)&&this.ot.length===e.length&&e.every((s,i)=>s===this.ot[i]))return x}else if(this.ot===e)return x;return this.ot=Array.isArray(e)?Array.from(e):e,this.render(e,t)}});var le=["failed","slow","asked"],ne=50,De=200,ae=8,Ne=100,y=class extends b{constructor(){super(...arguments);this.rows=[];this.top=0;this.height=0;this.rowHeight=64;this.isOpen=!1;this.next=null;this.filter={};this.generation=0;this.isLoadingMore=!1;this.resizes=new ResizeObserver(()=>{this.height=this.scroller.clientHeight,this.rowHeight=this.measure.offsetHeight})}willUpdate(t){t.has("page")&&(this.filter=Le(new URLSearchParams(location.search)))}firstUpdated(){this.resizes.observe(this.scroller)}disconnectedCallback(){super.disconnectedCallback(),this.resizes.disconnect(),clearTimeout(this.typing)}async load(){await Promise.all([this.loadFirst(),this.subscribe("turns/subscribe",()=>{this.attempt(()=>this.loadNew())})])}updated(t){super.updated(t),(t.has("top")||t.has("height")||t.has("rows"))&&this.attempt(()=>this.loadMore())}async list(t){return this.call("turns/list",{...this.filter,...t})}async loadFirst(){let t=++this.generation,{turns:s,next:i,total:o}=await this.list({limit:ne});t===this.generation&&([this.rows,this.next,this.total]=[s,i,o??s.length],this.scroller.scrollTop=this.top=0)}async loadMore(){if(!this.isLoadingMore){this.isLoadingMore=!0;try{for(;this.next!==null&&this.lastVisible>=this.rows.length;){let t=this.generation,{turns:s,next:i}=await this.list({limit:De,cursor:this.next});t===this.generation&&([this.rows,this.next]=[[...this.rows,...s],i])}}finally{this.isLoadingMore=!1}}}async loadNew(){let t=this.generation,{turns:s,next:i,total:o}=await this.list({limit:ne});if(t!==this.generation)return;let n=new Set(this.rows.map(l=>l.id)),a=s.filter(l=>!n.has(l.id));a.length===s.length?[this.rows,this.next]=[s,i]:this.rows=[...a,...this.rows],this.total=o??this.rows.length,this.scroller.scrollTop>0&&(await this.updateComplete,this.scroller.scrollTop+=a.length*this.rowHeight)}get firstVisible(){return Math.max(0,Math.floor(this.top/this.rowHeight)-ae)}get lastVisible(){let t=Math.ceil((this.top+this.height)/this.rowHeight)+ae;return Math.min(t,(this.total??0)-1)}choose(t){let s=Object.entries({...this.filter,...t}).filter(([,o])=>o?.length);this.filter=Object.fromEntries(s);let i=new URLSearchParams(s.map(([o,n])=>[o,String(n)])).toString();dt(`/chatterbox/turns${i?`?${i}`:""}`,!0),this.requestUpdate(),this.attempt(()=>this.loadFirst())}render(){let{info:t,texts:s}=this.page,{filter:i,total:o}=this,n=Object.keys(i).filter(l=>l!=="words").length,a=Object.keys(i).length>0;return c`
      <search>
        <input
          type="search"
          maxlength="200"
          aria-label=${this.text("turns.search")}
          placeholder=${this.text("turns.search")}
          .value=${i.words??""}
          @input=${this.type}
        />
        <button
          class="more"
          aria-expanded=${this.isOpen}
          @click=${()=>{this.isOpen=!this.isOpen}}
        >
          ${this.text("turns.filter")}${n?c` (${n})`:d}
        </button>
        <div class="filters" ?data-open=${this.isOpen}>
          ${this.select("person_id","turns.person",t.people)}
          ${this.select("device_id","turns.place",t.places)} ${this.select("agent","turns.agent",t.agents)}
          ${le.map(l=>{let p=!!i.marks?.includes(l),g=p?i.marks?.filter(h=>h!==l):[...i.marks??[],l];return c`<button aria-pressed=${p} @click=${()=>this.choose({marks:g??[]})}>
              ${this.text(`turns.${l}`)}
            </button>`})}
        </div>
        <span class="quiet figure" role="status"
          >${o===void 0?"":this.text("turns.total",{count:s.number(o)})}</span
        >
      </search>
      ${this.failureNote()}
      ${o===0?c`<p class="empty quiet">
              ${this.text(a?"turns.none_found":t.keeps_history?"turns.none":"turns.not_stored")}
            </p>`:d}
      <div
        class="scroller"
        tabindex="0"
        role="region"
        aria-label=${this.text("page.turns")}
        aria-busy=${o===void 0}
        @scroll=${()=>this.top=this.scroller.scrollTop}
        @keydown=${this.move}
      >
        <div class="measure row-height" aria-hidden="true"></div>
        <div class="rows" role="list" style="height: ${(o??0)*this.rowHeight}px">${this.visible()}</div>
      </div>
    `}visible(){let[t,s]=[this.firstVisible,this.lastVisible],i=Array.from({length:Math.max(0,s-t+1)},(o,n)=>t+n);return Y(i,o=>this.rows[o]?.id??o,o=>{let n=this.rows[o];return oe([n,o,this.rowHeight,this.total],()=>this.row(o,n))})}row(t,s){let i=`transform: translateY(${t*this.rowHeight}px)`;if(!s)return c`<div class="turn row-height" style=${i} aria-hidden="true"></div>`;let{texts:o}=this.page,n=o.day(s.at)===o.day(Date.now()/1e3);return c`<div
      class="turn row-height"
      role="listitem"
      style=${i}
      aria-setsize=${this.total??-1}
      aria-posinset=${t+1}
    >
      <div class="when figure">
        ${o.time(s.at)}${n?d:c`<div class="quiet small">${o.day(s.at)}</div>`}
      </div>
      <div class="who">
        <div class="line">${s.person??s.caller??this.text("turns.nobody")}</div>
        <div class="quiet small line">${s.place??s.agent}</div>
      </div>
      <div class="words">
        <a class="line" href="/chatterbox/turns/${encodeURIComponent(s.id)}" data-index=${t}
          >${s.words||this.text("turns.no_words")}</a
        >
        <div class="quiet line">${s.answer}</div>
      </div>
      <div class="marks">${s.marks.map(a=>vt(a,o))}</div>
      <div class="seconds figure quiet">${o.seconds(s.duration_ms/1e3)}</div>
    </div>`}select(t,s,i){if(i.length<2)return d;let o=this.filter[t]??"";return c`<select
      aria-label=${this.text(s)}
      @change=${n=>this.choose({[t]:n.target.value})}
    >
      <option value="" ?selected=${!o}>${this.text(`${s}_any`)}</option>
      ${i.map(({id:n,name:a})=>c`<option value=${n} ?selected=${n===o}>${a}</option>`)}
    </select>`}type(t){let s=t.target.value.trim();clearTimeout(this.typing),this.typing=setTimeout(()=>this.choose({words:s}),Ne)}async move(t){let s=t.key==="ArrowDown"?1:t.key==="ArrowUp"?-1:0,i=t.target.dataset.index;if(!s||i===void 0)return;t.preventDefault();let o=Number(i)+s,[n,a]=[o*this.rowHeight,(o+1)*this.rowHeight];n<this.scroller.scrollTop&&(this.scroller.scrollTop=n),a>this.scroller.scrollTop+this.height&&(this.scroller.scrollTop=a-this.height),this.top=this.scroller.scrollTop,await this.updateComplete,this.renderRoot.querySelector(`a[data-index="${o}"]`)?.focus({preventScroll:!0})}};y.styles=[R,_`
      :host {
        display: flex;
        flex-direction: column;
        overflow: hidden !important;
      }
      search {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px;
        padding: 12px 16px;
        border-bottom: 1px solid var(--divider-color);
        background: var(--card-background-color);
      }
      input {
        flex: 1 1 180px;
        max-width: 320px;
      }
      select {
        max-width: 180px;
      }
      .filters {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
      }
      .more {
        display: none;
      }
      search > span {
        margin-inline-start: auto;
      }
      .note {
        margin: 8px 16px;
      }
      .empty {
        padding: 24px 16px;
      }
      .scroller {
        position: relative;
        flex: 1;
        min-height: 0;
        overflow-y: auto;
        container-type: inline-size;
        background: var(--card-background-color);
      }
      .rows {
        position: relative;
      }
      .measure {
        position: absolute;
        width: 0;
        visibility: hidden;
      }
      .row-height {
        height: 64px;
      }
      .turn {
        position: absolute;
        inset: 0 0 auto;
        display: grid;
        grid-template-columns: 72px 116px minmax(0, 1fr) minmax(0, 28%) 64px;
        gap: 12px;
        align-items: center;
        padding: 0 16px;
        border-bottom: 1px solid var(--divider-color);
      }
      .turn[role]:hover {
        background: var(--secondary-background-color);
      }
      .who,
      .words {
        min-width: 0;
      }
      .line {
        display: -webkit-box;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 1;
        overflow: hidden;
        overflow-wrap: anywhere;
      }
      .words a {
        color: inherit;
        font-weight: 500;
        text-decoration: none;
      }
      .words a::after {
        content: "";
        position: absolute;
        inset: 0;
      }
      .words a:focus-visible {
        outline: none;
      }
      .words a:focus-visible::after {
        outline: 2px solid var(--primary-color);
        outline-offset: -2px;
      }
      .marks {
        display: flex;
        flex-wrap: wrap;
        gap: 4px;
        max-height: 48px;
        overflow: hidden;
      }
      .mark {
        max-width: 100%;
        overflow: hidden;
        display: -webkit-box;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 1;
        overflow-wrap: anywhere;
      }
      .seconds {
        text-align: end;
      }
      @media (max-width: 720px) {
        .more {
          display: block;
        }
        .filters:not([data-open]) {
          display: none;
        }
        search > span {
          margin-inline-start: 0;
        }
      }
      @container (max-width: 720px) {
        .row-height {
          height: 112px;
        }
        .turn {
          grid-template-columns: auto minmax(0, 1fr) auto;
          grid-template-rows: 20px auto 22px;
          align-content: center;
          gap: 2px 8px;
        }
        .when,
        .who {
          display: flex;
          gap: 6px;
          align-items: baseline;
        }
        .words {
          grid-area: 2 / 1 / 3 / 4;
        }
        .marks {
          grid-area: 3 / 1 / 4 / 4;
          max-height: 22px;
        }
        .seconds {
          grid-area: 1 / 3 / 2 / 4;
        }
      }
    `],u([v()],y.prototype,"rows",2),u([v()],y.prototype,"total",2),u([v()],y.prototype,"top",2),u([v()],y.prototype,"height",2),u([v()],y.prototype,"rowHeight",2),u([v()],y.prototype,"isOpen",2),u([Ct(".scroller")],y.prototype,"scroller",2),u([Ct(".measure")],y.prototype,"measure",2),y=u([P("chatterbox-turns")],y);function Le(r){let e={};for(let s of["words","person_id","device_id","agent"]){let i=r.get(s);i&&(e[s]=i)}let t=le.filter(s=>r.get("marks")?.split(",").includes(s));return t.length&&(e.marks=t),e}var qe="M3,6H21V8H3V6M3,11H21V13H3V11M3,16H21V18H3V16Z";function Ie(r,e){return!e||e.language!==r.language||e.locale!==r.locale||e.connection!==r.connection}var A=class extends w{constructor(){super(...arguments);this.narrow=!1;this.ready=()=>{this.open()}}disconnectedCallback(){super.disconnectedCallback(),this.hass.connection.removeEventListener("ready",this.ready)}firstUpdated(){this.hass.connection.addEventListener("ready",this.ready)}willUpdate(t){t.has("hass")&&this.open()}async open(){let t=this;try{let[s,i]=await Promise.all([ht.load(this.hass),this.hass.callWS({type:"chatterbox/page"})]);this.page={get hass(){return t.hass},texts:s,info:i},this.failure=void 0}catch(s){this.failure=ct(s)}}render(){let{page:t}=this;if(!t)return this.failure?c`<p class="failure" role="alert">${this.failure.message}</p>`:d;let[,s="",...i]=(this.route?.path??"").split("/"),o=s||"now";return c`
      <header>
        ${this.narrow?c`<button class="menu" aria-label=${t.texts.text("page.menu")} @click=${this.openMenu}>
                <svg viewBox="0 0 24 24" aria-hidden="true"><path d=${qe} /></svg>
              </button>`:d}
        <h1>Chatterbox</h1>
        <nav aria-label="Chatterbox">
          ${this.tab("now",o)} ${this.tab("turns",o)}
          ${t.info.is_admin?this.tab("permissions",o):d}
        </nav>
      </header>
      <main>${this.view(t,o,i.join("/"))}</main>
    `}tab(t,s){return c`<a href="/chatterbox/${t}" aria-current=${t===s?"page":"false"}
      >${this.page?.texts.text(`page.${t}`)}</a
    >`}view(t,s,i){return s==="turns"?i?c`<chatterbox-turn .page=${t} .path=${decodeURIComponent(i)}></chatterbox-turn>`:c`<chatterbox-turns .page=${t}></chatterbox-turns>`:c`<chatterbox-now .page=${t}></chatterbox-now>`}openMenu(){this.dispatchEvent(new CustomEvent("hass-toggle-menu",{bubbles:!0,composed:!0}))}};A.styles=[R,_`
      :host {
        display: flex;
        flex-direction: column;
        height: calc(100dvh - var(--safe-area-inset-top, 0px) - var(--safe-area-inset-bottom, 0px));
        color: var(--primary-text-color);
        background: var(--primary-background-color);
        font-family: var(--ha-font-family-body, Roboto, sans-serif);
        font-size: 14px;
        line-height: 20px;
      }
      header {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        column-gap: 16px;
        padding: 0 16px;
        min-height: var(--header-height, 56px);
        color: var(--app-header-text-color, var(--primary-text-color));
        background: var(--app-header-background-color, var(--card-background-color));
        border-bottom: var(--app-header-border-bottom, 1px solid var(--divider-color));
      }
      h1 {
        font-size: 20px;
        font-weight: 400;
      }
      .menu {
        display: grid;
        place-items: center;
        width: 40px;
        margin-inline-start: -8px;
        padding: 0;
        border: none;
        color: inherit;
        background: none;
      }
      .menu svg {
        width: 24px;
        fill: currentcolor;
      }
      nav {
        display: flex;
        align-self: stretch;
      }
      :host([narrow]) nav {
        flex-basis: 100%;
        justify-content: space-between;
      }
      nav a {
        display: flex;
        align-items: center;
        min-height: 44px;
        padding: 2px 10px 0;
        text-align: center;
        text-decoration: none;
        color: inherit;
        border-bottom: 2px solid transparent;
      }
      nav a[aria-current="page"] {
        border-color: var(--primary-color);
        font-weight: 500;
      }
      main {
        flex: 1;
        min-height: 0;
        display: flex;
        flex-direction: column;
      }
      main > * {
        flex: 1;
        min-height: 0;
        overflow-y: auto;
      }
      .failure {
        padding: 24px;
      }
    `],u([T({attribute:!1,hasChanged:Ie})],A.prototype,"hass",2),u([T({type:Boolean,reflect:!0})],A.prototype,"narrow",2),u([T({attribute:!1})],A.prototype,"route",2),u([v()],A.prototype,"page",2),u([v()],A.prototype,"failure",2),A=u([P("chatterbox-panel")],A);export{A as ChatterboxPanel};
/*! Bundled license information:

@lit/reactive-element/css-tag.js:
  (**
   * @license
   * Copyright 2019 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

@lit/reactive-element/reactive-element.js:
lit-html/lit-html.js:
lit-element/lit-element.js:
@lit/reactive-element/decorators/custom-element.js:
@lit/reactive-element/decorators/property.js:
@lit/reactive-element/decorators/state.js:
@lit/reactive-element/decorators/event-options.js:
@lit/reactive-element/decorators/base.js:
@lit/reactive-element/decorators/query.js:
@lit/reactive-element/decorators/query-all.js:
@lit/reactive-element/decorators/query-async.js:
@lit/reactive-element/decorators/query-assigned-nodes.js:
lit-html/directive.js:
lit-html/async-directive.js:
lit-html/directives/repeat.js:
  (**
   * @license
   * Copyright 2017 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/is-server.js:
  (**
   * @license
   * Copyright 2022 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

@lit/reactive-element/decorators/query-assigned-elements.js:
  (**
   * @license
   * Copyright 2021 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/directive-helpers.js:
lit-html/directives/ref.js:
  (**
   * @license
   * Copyright 2020 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/directives/guard.js:
  (**
   * @license
   * Copyright 2018 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)
*/
