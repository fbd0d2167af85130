var ve=Object.defineProperty;var $e=Object.getOwnPropertyDescriptor;var h=(n,s,t,e)=>{for(var i=e>1?void 0:e?$e(s,t):s,r=n.length-1,o;r>=0;r--)(o=n[r])&&(i=(e?o(s,t,i):o(i))||i);return e&&i&&ve(s,t,i),i};var rt=globalThis,nt=rt.ShadowRoot&&(rt.ShadyCSS===void 0||rt.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,kt=Symbol(),Dt=new WeakMap,Z=class{constructor(s,t,e){if(this._$cssResult$=!0,e!==kt)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=s,this.t=t}get styleSheet(){let s=this.o,t=this.t;if(nt&&s===void 0){let e=t!==void 0&&t.length===1;e&&(s=Dt.get(t)),s===void 0&&((this.o=s=new CSSStyleSheet).replaceSync(this.cssText),e&&Dt.set(t,s))}return s}toString(){return this.cssText}},Ut=n=>new Z(typeof n=="string"?n:n+"",void 0,kt),x=(n,...s)=>{let t=n.length===1?n[0]:s.reduce((e,i,r)=>e+(o=>{if(o._$cssResult$===!0)return o.cssText;if(typeof o=="number")return o;throw Error("Value passed to 'css' function must be a 'css' function result: "+o+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(i)+n[r+1],n[0]);return new Z(t,n,kt)},It=(n,s)=>{if(nt)n.adoptedStyleSheets=s.map(t=>t instanceof CSSStyleSheet?t:t.styleSheet);else for(let t of s){let e=document.createElement("style"),i=rt.litNonce;i!==void 0&&e.setAttribute("nonce",i),e.textContent=t.cssText,n.appendChild(e)}},Tt=nt?n=>n:n=>n instanceof CSSStyleSheet?(s=>{let t="";for(let e of s.cssRules)t+=e.cssText;return Ut(t)})(n):n;var{is:be,defineProperty:ye,getOwnPropertyDescriptor:xe,getOwnPropertyNames:we,getOwnPropertySymbols:_e,getPrototypeOf:Ae}=Object,ot=globalThis,jt=ot.trustedTypes,ke=jt?jt.emptyScript:"",Te=ot.reactiveElementPolyfillSupport,J=(n,s)=>n,Y={toAttribute(n,s){switch(s){case Boolean:n=n?ke:null;break;case Object:case Array:n=n==null?n:JSON.stringify(n)}return n},fromAttribute(n,s){let t=n;switch(s){case Boolean:t=n!==null;break;case Number:t=n===null?null:Number(n);break;case Object:case Array:try{t=JSON.parse(n)}catch{t=null}}return t}},at=(n,s)=>!be(n,s),Ft={attribute:!0,type:String,converter:Y,reflect:!1,useDefault:!1,hasChanged:at};Symbol.metadata??=Symbol("metadata"),ot.litPropertyMetadata??=new WeakMap;var C=class extends HTMLElement{static addInitializer(s){this._$Ei(),(this.l??=[]).push(s)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(s,t=Ft){if(t.state&&(t.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(s)&&((t=Object.create(t)).wrapped=!0),this.elementProperties.set(s,t),!t.noAccessor){let e=Symbol(),i=this.getPropertyDescriptor(s,e,t);i!==void 0&&ye(this.prototype,s,i)}}static getPropertyDescriptor(s,t,e){let{get:i,set:r}=xe(this.prototype,s)??{get(){return this[t]},set(o){this[t]=o}};return{get:i,set(o){let a=i?.call(this);r?.call(this,o),this.requestUpdate(s,a,e)},configurable:!0,enumerable:!0}}static getPropertyOptions(s){return this.elementProperties.get(s)??Ft}static _$Ei(){if(this.hasOwnProperty(J("elementProperties")))return;let s=Ae(this);s.finalize(),s.l!==void 0&&(this.l=[...s.l]),this.elementProperties=new Map(s.elementProperties)}static finalize(){if(this.hasOwnProperty(J("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(J("properties"))){let t=this.properties,e=[...we(t),..._e(t)];for(let i of e)this.createProperty(i,t[i])}let s=this[Symbol.metadata];if(s!==null){let t=litPropertyMetadata.get(s);if(t!==void 0)for(let[e,i]of t)this.elementProperties.set(e,i)}this._$Eh=new Map;for(let[t,e]of this.elementProperties){let i=this._$Eu(t,e);i!==void 0&&this._$Eh.set(i,t)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(s){let t=[];if(Array.isArray(s)){let e=new Set(s.flat(1/0).reverse());for(let i of e)t.unshift(Tt(i))}else s!==void 0&&t.push(Tt(s));return t}static _$Eu(s,t){let e=t.attribute;return e===!1?void 0:typeof e=="string"?e:typeof s=="string"?s.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(s=>this.enableUpdating=s),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(s=>s(this))}addController(s){(this._$EO??=new Set).add(s),this.renderRoot!==void 0&&this.isConnected&&s.hostConnected?.()}removeController(s){this._$EO?.delete(s)}_$E_(){let s=new Map,t=this.constructor.elementProperties;for(let e of t.keys())this.hasOwnProperty(e)&&(s.set(e,this[e]),delete this[e]);s.size>0&&(this._$Ep=s)}createRenderRoot(){let s=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return It(s,this.constructor.elementStyles),s}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(s=>s.hostConnected?.())}enableUpdating(s){}disconnectedCallback(){this._$EO?.forEach(s=>s.hostDisconnected?.())}attributeChangedCallback(s,t,e){this._$AK(s,e)}_$ET(s,t){let e=this.constructor.elementProperties.get(s),i=this.constructor._$Eu(s,e);if(i!==void 0&&e.reflect===!0){let r=(e.converter?.toAttribute!==void 0?e.converter:Y).toAttribute(t,e.type);this._$Em=s,r==null?this.removeAttribute(i):this.setAttribute(i,r),this._$Em=null}}_$AK(s,t){let e=this.constructor,i=e._$Eh.get(s);if(i!==void 0&&this._$Em!==i){let r=e.getPropertyOptions(i),o=typeof r.converter=="function"?{fromAttribute:r.converter}:r.converter?.fromAttribute!==void 0?r.converter:Y;this._$Em=i;let a=o.fromAttribute(t,r.type);this[i]=a??this._$Ej?.get(i)??a,this._$Em=null}}requestUpdate(s,t,e,i=!1,r){if(s!==void 0){let o=this.constructor;if(i===!1&&(r=this[s]),e??=o.getPropertyOptions(s),!((e.hasChanged??at)(r,t)||e.useDefault&&e.reflect&&r===this._$Ej?.get(s)&&!this.hasAttribute(o._$Eu(s,e))))return;this.C(s,t,e)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(s,t,{useDefault:e,reflect:i,wrapped:r},o){e&&!(this._$Ej??=new Map).has(s)&&(this._$Ej.set(s,o??t??this[s]),r!==!0||o!==void 0)||(this._$AL.has(s)||(this.hasUpdated||e||(t=void 0),this._$AL.set(s,t)),i===!0&&this._$Em!==s&&(this._$Eq??=new Set).add(s))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(t){Promise.reject(t)}let s=this.scheduleUpdate();return s!=null&&await s,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[i,r]of this._$Ep)this[i]=r;this._$Ep=void 0}let e=this.constructor.elementProperties;if(e.size>0)for(let[i,r]of e){let{wrapped:o}=r,a=this[i];o!==!0||this._$AL.has(i)||a===void 0||this.C(i,void 0,r,a)}}let s=!1,t=this._$AL;try{s=this.shouldUpdate(t),s?(this.willUpdate(t),this._$EO?.forEach(e=>e.hostUpdate?.()),this.update(t)):this._$EM()}catch(e){throw s=!1,this._$EM(),e}s&&this._$AE(t)}willUpdate(s){}_$AE(s){this._$EO?.forEach(t=>t.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(s)),this.updated(s)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(s){return!0}update(s){this._$Eq&&=this._$Eq.forEach(t=>this._$ET(t,this[t])),this._$EM()}updated(s){}firstUpdated(s){}};C.elementStyles=[],C.shadowRootOptions={mode:"open"},C[J("elementProperties")]=new Map,C[J("finalized")]=new Map,Te?.({ReactiveElement:C}),(ot.reactiveElementVersions??=[]).push("2.1.2");var St=globalThis,zt=n=>n,lt=St.trustedTypes,Bt=lt?lt.createPolicy("lit-html",{createHTML:n=>n}):void 0,Pt="$lit$",M=`lit$${Math.random().toFixed(9).slice(2)}$`,Rt="?"+M,Ee=`<${Rt}>`,j=document,tt=()=>j.createComment(""),et=n=>n===null||typeof n!="object"&&typeof n!="function",Ct=Array.isArray,Zt=n=>Ct(n)||typeof n?.[Symbol.iterator]=="function",Et=`[ 	
\f\r]`,X=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,Wt=/-->/g,Gt=/>/g,U=RegExp(`>|${Et}(?:([^\\s"'>=/]+)(${Et}*=${Et}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),Kt=/'/g,Vt=/"/g,Jt=/^(?:script|style|textarea|title)$/i,Mt=n=>(s,...t)=>({_$litType$:n,strings:s,values:t}),l=Mt(1),Ht=Mt(2),ls=Mt(3),k=Symbol.for("lit-noChange"),d=Symbol.for("lit-nothing"),Qt=new WeakMap,I=j.createTreeWalker(j,129);function Yt(n,s){if(!Ct(n)||!n.hasOwnProperty("raw"))throw Error("invalid template strings array");return Bt!==void 0?Bt.createHTML(s):s}var Xt=(n,s)=>{let t=n.length-1,e=[],i,r=s===2?"<svg>":s===3?"<math>":"",o=X;for(let a=0;a<t;a++){let c=n[a],u,f,p=-1,v=0;for(;v<c.length&&(o.lastIndex=v,f=o.exec(c),f!==null);)v=o.lastIndex,o===X?f[1]==="!--"?o=Wt:f[1]!==void 0?o=Gt:f[2]!==void 0?(Jt.test(f[2])&&(i=RegExp("</"+f[2],"g")),o=U):f[3]!==void 0&&(o=U):o===U?f[0]===">"?(o=i??X,p=-1):f[1]===void 0?p=-2:(p=o.lastIndex-f[2].length,u=f[1],o=f[3]===void 0?U:f[3]==='"'?Vt:Kt):o===Vt||o===Kt?o=U:o===Wt||o===Gt?o=X:(o=U,i=void 0);let g=o===U&&n[a+1].startsWith("/>")?" ":"";r+=o===X?c+Ee:p>=0?(e.push(u),c.slice(0,p)+Pt+c.slice(p)+M+g):c+M+(p===-2?a:g)}return[Yt(n,r+(n[t]||"<?>")+(s===2?"</svg>":s===3?"</math>":"")),e]},st=class n{constructor({strings:s,_$litType$:t},e){let i;this.parts=[];let r=0,o=0,a=s.length-1,c=this.parts,[u,f]=Xt(s,t);if(this.el=n.createElement(u,e),I.currentNode=this.el.content,t===2||t===3){let p=this.el.content.firstChild;p.replaceWith(...p.childNodes)}for(;(i=I.nextNode())!==null&&c.length<a;){if(i.nodeType===1){if(i.hasAttributes())for(let p of i.getAttributeNames())if(p.endsWith(Pt)){let v=f[o++],g=i.getAttribute(p).split(M),$=/([.?@])?(.*)/.exec(v);c.push({type:1,index:r,name:$[2],strings:g,ctor:$[1]==="."?dt:$[1]==="?"?ht:$[1]==="@"?pt:z}),i.removeAttribute(p)}else p.startsWith(M)&&(c.push({type:6,index:r}),i.removeAttribute(p));if(Jt.test(i.tagName)){let p=i.textContent.split(M),v=p.length-1;if(v>0){i.textContent=lt?lt.emptyScript:"";for(let g=0;g<v;g++)i.append(p[g],tt()),I.nextNode(),c.push({type:2,index:++r});i.append(p[v],tt())}}}else if(i.nodeType===8)if(i.data===Rt)c.push({type:2,index:r});else{let p=-1;for(;(p=i.data.indexOf(M,p+1))!==-1;)c.push({type:7,index:r}),p+=M.length-1}r++}}static createElement(s,t){let e=j.createElement("template");return e.innerHTML=s,e}};function F(n,s,t=n,e){if(s===k)return s;let i=e!==void 0?t._$Co?.[e]:t._$Cl,r=et(s)?void 0:s._$litDirective$;return i?.constructor!==r&&(i?._$AO?.(!1),r===void 0?i=void 0:(i=new r(n),i._$AT(n,t,e)),e!==void 0?(t._$Co??=[])[e]=i:t._$Cl=i),i!==void 0&&(s=F(n,i._$AS(n,s.values),i,e)),s}var ct=class{constructor(s,t){this._$AV=[],this._$AN=void 0,this._$AD=s,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(s){let{el:{content:t},parts:e}=this._$AD,i=(s?.creationScope??j).importNode(t,!0);I.currentNode=i;let r=I.nextNode(),o=0,a=0,c=e[0];for(;c!==void 0;){if(o===c.index){let u;c.type===2?u=new K(r,r.nextSibling,this,s):c.type===1?u=new c.ctor(r,c.name,c.strings,this,s):c.type===6&&(u=new ut(r,this,s)),this._$AV.push(u),c=e[++a]}o!==c?.index&&(r=I.nextNode(),o++)}return I.currentNode=j,i}p(s){let t=0;for(let e of this._$AV)e!==void 0&&(e.strings!==void 0?(e._$AI(s,e,t),t+=e.strings.length-2):e._$AI(s[t])),t++}},K=class n{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(s,t,e,i){this.type=2,this._$AH=d,this._$AN=void 0,this._$AA=s,this._$AB=t,this._$AM=e,this.options=i,this._$Cv=i?.isConnected??!0}get parentNode(){let s=this._$AA.parentNode,t=this._$AM;return t!==void 0&&s?.nodeType===11&&(s=t.parentNode),s}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(s,t=this){s=F(this,s,t),et(s)?s===d||s==null||s===""?(this._$AH!==d&&this._$AR(),this._$AH=d):s!==this._$AH&&s!==k&&this._(s):s._$litType$!==void 0?this.$(s):s.nodeType!==void 0?this.T(s):Zt(s)?this.k(s):this._(s)}O(s){return this._$AA.parentNode.insertBefore(s,this._$AB)}T(s){this._$AH!==s&&(this._$AR(),this._$AH=this.O(s))}_(s){this._$AH!==d&&et(this._$AH)?this._$AA.nextSibling.data=s:this.T(j.createTextNode(s)),this._$AH=s}$(s){let{values:t,_$litType$:e}=s,i=typeof e=="number"?this._$AC(s):(e.el===void 0&&(e.el=st.createElement(Yt(e.h,e.h[0]),this.options)),e);if(this._$AH?._$AD===i)this._$AH.p(t);else{let r=new ct(i,this),o=r.u(this.options);r.p(t),this.T(o),this._$AH=r}}_$AC(s){let t=Qt.get(s.strings);return t===void 0&&Qt.set(s.strings,t=new st(s)),t}k(s){Ct(this._$AH)||(this._$AH=[],this._$AR());let t=this._$AH,e,i=0;for(let r of s)i===t.length?t.push(e=new n(this.O(tt()),this.O(tt()),this,this.options)):e=t[i],e._$AI(r),i++;i<t.length&&(this._$AR(e&&e._$AB.nextSibling,i),t.length=i)}_$AR(s=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);s!==this._$AB;){let e=zt(s).nextSibling;zt(s).remove(),s=e}}setConnected(s){this._$AM===void 0&&(this._$Cv=s,this._$AP?.(s))}},z=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(s,t,e,i,r){this.type=1,this._$AH=d,this._$AN=void 0,this.element=s,this.name=t,this._$AM=i,this.options=r,e.length>2||e[0]!==""||e[1]!==""?(this._$AH=Array(e.length-1).fill(new String),this.strings=e):this._$AH=d}_$AI(s,t=this,e,i){let r=this.strings,o=!1;if(r===void 0)s=F(this,s,t,0),o=!et(s)||s!==this._$AH&&s!==k,o&&(this._$AH=s);else{let a=s,c,u;for(s=r[0],c=0;c<r.length-1;c++)u=F(this,a[e+c],t,c),u===k&&(u=this._$AH[c]),o||=!et(u)||u!==this._$AH[c],u===d?s=d:s!==d&&(s+=(u??"")+r[c+1]),this._$AH[c]=u}o&&!i&&this.j(s)}j(s){s===d?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,s??"")}},dt=class extends z{constructor(){super(...arguments),this.type=3}j(s){this.element[this.name]=s===d?void 0:s}},ht=class extends z{constructor(){super(...arguments),this.type=4}j(s){this.element.toggleAttribute(this.name,!!s&&s!==d)}},pt=class extends z{constructor(s,t,e,i,r){super(s,t,e,i,r),this.type=5}_$AI(s,t=this){if((s=F(this,s,t,0)??d)===k)return;let e=this._$AH,i=s===d&&e!==d||s.capture!==e.capture||s.once!==e.once||s.passive!==e.passive,r=s!==d&&(e===d||i);i&&this.element.removeEventListener(this.name,this,e),r&&this.element.addEventListener(this.name,this,s),this._$AH=s}handleEvent(s){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,s):this._$AH.handleEvent(s)}},ut=class{constructor(s,t,e){this.element=s,this.type=6,this._$AN=void 0,this._$AM=t,this.options=e}get _$AU(){return this._$AM._$AU}_$AI(s){F(this,s)}},te={M:Pt,P:M,A:Rt,C:1,L:Xt,R:ct,D:Zt,V:F,I:K,H:z,N:ht,U:pt,B:dt,F:ut},Se=St.litHtmlPolyfillSupport;Se?.(st,K),(St.litHtmlVersions??=[]).push("3.3.3");var ee=(n,s,t)=>{let e=t?.renderBefore??s,i=e._$litPart$;if(i===void 0){let r=t?.renderBefore??null;e._$litPart$=i=new K(s.insertBefore(tt(),r),r,void 0,t??{})}return i._$AI(n),i};var Ot=globalThis,S=class extends C{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let s=super.createRenderRoot();return this.renderOptions.renderBefore??=s.firstChild,s}update(s){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(s),this._$Do=ee(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return k}};S._$litElement$=!0,S.finalized=!0,Ot.litElementHydrateSupport?.({LitElement:S});var Pe=Ot.litElementPolyfillSupport;Pe?.({LitElement:S});(Ot.litElementVersions??=[]).push("4.2.2");var y=n=>(s,t)=>{t!==void 0?t.addInitializer(()=>{customElements.define(n,s)}):customElements.define(n,s)};var Re={attribute:!0,type:String,converter:Y,reflect:!1,hasChanged:at},Ce=(n=Re,s,t)=>{let{kind:e,metadata:i}=t,r=globalThis.litPropertyMetadata.get(i);if(r===void 0&&globalThis.litPropertyMetadata.set(i,r=new Map),e==="setter"&&((n=Object.create(n)).wrapped=!0),r.set(t.name,n),e==="accessor"){let{name:o}=t;return{set(a){let c=s.get.call(this);s.set.call(this,a),this.requestUpdate(o,c,n,!0,a)},init(a){return a!==void 0&&this.C(o,void 0,n,a),a}}}if(e==="setter"){let{name:o}=t;return function(a){let c=this[o];s.call(this,a),this.requestUpdate(o,c,n,!0,a)}}throw Error("Unsupported decorator location: "+e)};function w(n){return(s,t)=>typeof t=="object"?Ce(n,s,t):((e,i,r)=>{let o=i.hasOwnProperty(r);return i.constructor.createProperty(r,e),o?Object.getOwnPropertyDescriptor(i,r):void 0})(n,s,t)}function m(n){return w({...n,state:!0,attribute:!1})}var B=(n,s,t)=>(t.configurable=!0,t.enumerable=!0,Reflect.decorate&&typeof s!="object"&&Object.defineProperty(n,s,t),t);function se(n,s){return(t,e,i)=>{let r=o=>o.renderRoot?.querySelector(n)??null;if(s){let{get:o,set:a}=typeof e=="object"?t:i??(()=>{let c=Symbol();return{get(){return this[c]},set(u){this[c]=u}}})();return B(t,e,{get(){let c=o.call(this);return c===void 0&&(c=r(this),(c!==null||this.hasUpdated)&&a.call(this,c)),c}})}return B(t,e,{get(){return r(this)}})}}function mt(n){return typeof n=="object"&&n!==null&&"code"in n&&"message"in n?n:{code:"unknown",message:String(n)}}function gt(n,s=!1){s?history.replaceState(history.state,"",n):history.pushState(null,"",n),dispatchEvent(new CustomEvent("location-changed",{detail:{replace:s}}))}var _=x`
  * {
    box-sizing: border-box;
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
    accent-color: var(--primary-color);
  }
  [role="status"]:empty:not(.hidden) {
    display: none;
  }
  .page > section,
  .cards {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
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
  .row:has(> label) {
    align-items: end;
  }
  .spread {
    justify-content: space-between;
  }
  .wide {
    flex: 1 1 240px;
    min-width: 0;
  }
  dl {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 24px;
  }
  .dot {
    border: 5px solid var(--success-color, #43a047);
    border-radius: 5px;
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
  button,
  input,
  select {
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
  .bad,
  [role="alert"] {
    border-color: var(--error-color);
  }
  .notable {
    border-color: var(--warning-color);
  }
  .sign {
    width: 40px;
    padding: 0;
  }
  .bare {
    padding: 0;
    border: none;
    color: inherit;
    background: none;
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
    min-height: 32px;
    color: var(--primary-text-color);
  }
  .check input {
    flex: none;
    width: 20px;
    min-height: 20px;
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
    margin: auto;
    padding: 24px;
    width: min(560px, calc(100vw - 32px));
  }
  dialog::backdrop {
    background: rgb(0 0 0 / 50%);
  }
  dialog form {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 16px;
  }
  dialog form > .row {
    justify-content: flex-end;
  }
  .hidden {
    position: absolute;
    clip-path: inset(50%);
  }
`;var Me=["config_panel","exceptions"];var Nt={style:"currency",currency:"USD"},He="component.chatterbox.",ft=class n{constructor(s,t){this.texts=t;let{time_format:e,time_zone:i}=s.locale;this.language=s.language,this.zone=i==="server"?{timeZone:s.config.time_zone}:{};let r=e==="12"||e==="24"?{hour12:e==="12"}:{},o={...this.zone,...r,hour:"numeric",minute:"2-digit"},a={...this.zone,weekday:"short",day:"numeric",month:"short"};this.clock=new Intl.DateTimeFormat(this.language,o),this.days=new Intl.DateTimeFormat(this.language,a),this.dayAndClock=new Intl.DateTimeFormat(this.language,{...a,...o})}static async load(s){let t=Me.map(e=>s.callWS({type:"frontend/get_translations",language:s.language,category:e,integration:["chatterbox"]}));return new n(s,Object.assign({},...(await Promise.all(t)).map(({resources:e})=>e)))}text(s,t={}){return this.filled(`config_panel.${s}`,t)??s}choice(s,t,e=t){return this.filled(`config_panel.${s}.${t}`)??e}reason(s,t={}){return this.filled(`exceptions.${s}.message`,t)}failure(s){let{code:t,message:e,translation_key:i,translation_placeholders:r}=s;return(i?this.reason(i,r):void 0)??this.filled(`config_panel.error.${t}`,r)??e}filled(s,t={}){return this.texts[He+s]?.replace(/\{(\w+)\}/g,(e,i)=>String(t[i]??e))}number(s,t){return new Intl.NumberFormat(this.language,t).format(s)}duration(s){if(s===null)return"–";let[t,e,i]=s<100?[s,"ms",0]:s<1e5?[s/1e3,"s",s<1e4?1:0]:[s/6e4,"min",0];return`${this.number(t,{minimumFractionDigits:i,maximumFractionDigits:i})} ${this.text(`unit.${e}`)}`}countdown(s){return`${Math.floor(s/60)}:${String(s%60).padStart(2,"0")}`}money(s){if(s===null)return"–";let t=s===0||s>=1?2:s>=.01?3:5;return this.number(s,{...Nt,minimumFractionDigits:2,maximumFractionDigits:t})}sum(s){return s===null?"–":s>0&&s<.01?`< ${this.number(.01,Nt)}`:this.number(s,Nt)}time(s){return this.clock.format(s*1e3)}day(s){return this.days.format(s*1e3)}fullMoment(s){return this.dayAndClock.format(s*1e3)}moment(s){return this.day(s)===this.day(Date.now()/1e3)?this.time(s):this.fullMoment(s)}fieldOf(s){return new Intl.DateTimeFormat("sv",{...this.zone,dateStyle:"short",timeStyle:"short"}).format(s*1e3).replace(" ","T")}ofField(s){let t=Date.parse(`${s}Z`)/1e3,e=i=>Date.parse(`${this.fieldOf(i)}Z`)/1e3-Math.floor(i/60)*60;return t-e(t-e(t))}};var vt={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},W=n=>(...s)=>({_$litDirective$:n,values:s}),H=class{constructor(s){}get _$AU(){return this._$AM._$AU}_$AT(s,t,e){this._$Ct=s,this._$AM=t,this._$Ci=e}_$AS(s,t){return this.update(s,t)}update(s,t){return this.render(...t)}};var{I:Oe}=te,ie=n=>n;var ne=n=>n.strings===void 0,re=()=>document.createComment(""),V=(n,s,t)=>{let e=n._$AA.parentNode,i=s===void 0?n._$AB:s._$AA;if(t===void 0){let r=e.insertBefore(re(),i),o=e.insertBefore(re(),i);t=new Oe(r,o,n,n.options)}else{let r=t._$AB.nextSibling,o=t._$AM,a=o!==n;if(a){let c;t._$AQ?.(n),t._$AM=n,t._$AP!==void 0&&(c=n._$AU)!==o._$AU&&t._$AP(c)}if(r!==i||a){let c=t._$AA;for(;c!==r;){let u=ie(c).nextSibling;ie(e).insertBefore(c,i),c=u}}}return t},O=(n,s,t=n)=>(n._$AI(s,t),n),Ne={},oe=(n,s=Ne)=>n._$AH=s,ae=n=>n._$AH,$t=n=>{n._$AR(),n._$AA.remove()};var le=(n,s,t)=>{let e=new Map;for(let i=s;i<=t;i++)e.set(n[i],i);return e},Q=W(class extends H{constructor(n){if(super(n),n.type!==vt.CHILD)throw Error("repeat() can only be used in text expressions")}dt(n,s,t){let e;t===void 0?t=s:s!==void 0&&(e=s);let i=[],r=[],o=0;for(let a of n)i[o]=e?e(a,o):o,r[o]=t(a,o),o++;return{values:r,keys:i}}render(n,s,t){return this.dt(n,s,t).values}update(n,[s,t,e]){let i=ae(n),{values:r,keys:o}=this.dt(s,t,e);if(!Array.isArray(i))return this.ut=o,r;let a=this.ut??=[],c=[],u,f,p=0,v=i.length-1,g=0,$=r.length-1;for(;p<=v&&g<=$;)if(i[p]===null)p++;else if(i[v]===null)v--;else if(a[p]===o[g])c[g]=O(i[p],r[g]),p++,g++;else if(a[v]===o[$])c[$]=O(i[v],r[$]),v--,$--;else if(a[p]===o[$])c[$]=O(i[p],r[$]),V(n,c[$+1],i[p]),p++,$--;else if(a[v]===o[g])c[g]=O(i[v],r[g]),V(n,i[p],i[v]),v--,g++;else if(u===void 0&&(u=le(o,g,$),f=le(a,p,v)),u.has(a[p]))if(u.has(a[v])){let R=f.get(o[g]),At=R!==void 0?i[R]:null;if(At===null){let qt=V(n,i[p]);O(qt,r[g]),c[g]=qt}else c[g]=O(At,r[g]),V(n,i[p],At),i[R]=null;g++}else $t(i[v]),v--;else $t(i[p]),p++;for(;g<=$;){let R=V(n,c[$+1]);O(R,r[g]),c[g++]=R}for(;p<=v;){let R=i[p++];R!==null&&$t(R)}return this.ut=o,oe(n,c),k}});var it=(n,s)=>{let t=n._$AN;if(t===void 0)return!1;for(let e of t)e._$AO?.(s,!1),it(e,s);return!0},bt=n=>{let s,t;do{if((s=n._$AM)===void 0)break;t=s._$AN,t.delete(n),n=s}while(t?.size===0)},ce=n=>{for(let s;s=n._$AM;n=s){let t=s._$AN;if(t===void 0)s._$AN=t=new Set;else if(t.has(n))break;t.add(n),De(s)}};function Le(n){this._$AN!==void 0?(bt(this),this._$AM=n,ce(this)):this._$AM=n}function qe(n,s=!1,t=0){let e=this._$AH,i=this._$AN;if(i!==void 0&&i.size!==0)if(s)if(Array.isArray(e))for(let r=t;r<e.length;r++)it(e[r],!1),bt(e[r]);else e!=null&&(it(e,!1),bt(e));else it(this,n)}var De=n=>{n.type==vt.CHILD&&(n._$AP??=qe,n._$AQ??=Le)},yt=class extends H{constructor(){super(...arguments),this._$AN=void 0}_$AT(s,t,e){super._$AT(s,t,e),ce(this),this.isConnected=s._$AU}_$AO(s,t=!0){s!==this.isConnected&&(this.isConnected=s,s?this.reconnected?.():this.disconnected?.()),t&&(it(this,s),bt(this))}setValue(s){if(ne(this._$Ct))this._$Ct._$AI(s,this);else{let t=[...this._$Ct._$AH];t[this._$Ci]=s,this._$Ct._$AI(t,this,0)}}disconnected(){}reconnected(){}};var Lt=new WeakMap,xt=W(class extends yt{render(n){return d}update(n,[s]){let t=s!==this.G;return t&&this.rt(void 0),(t||this.lt!==this.ct)&&(this.G=s,this.ht=n.options?.host,this.rt(this.ct=n.element)),d}rt(n){if(this.G!==void 0)if(this.isConnected||(n=void 0),typeof this.G=="function"){let s=this.ht??globalThis,t=Lt.get(s);t===void 0&&(t=new WeakMap,Lt.set(s,t)),t.get(this.G)!==void 0&&this.G.call(this.ht,void 0),t.set(this.G,n),n!==void 0&&this.G.call(this.ht,n)}else this.G.value=n}get lt(){return typeof this.G=="function"?Lt.get(this.ht??globalThis)?.get(this.G):this.G?.value}disconnected(){this.lt===this.ct&&this.rt(void 0)}reconnected(){this.rt(this.ct)}});var b=class extends S{constructor(){super(...arguments);this.path="";this.unsubscribe=[]}static{this.styles=_}disconnectedCallback(){super.disconnectedCallback(),this.stop(),clearTimeout(this.typing)}updated(t){(t.has("page")||t.has("path"))&&this.start()}async start(){this.stop(),await this.attempt(()=>this.load())}async attempt(t){try{let e=await t();return this.failure=void 0,e}catch(e){this.failure=mt(e);return}}async call(t,e={}){return this.page.hass.callWS({type:`chatterbox/${t}`,...e})}async subscribe(t,e,i={}){let r=await this.page.hass.connection.subscribeMessage(a=>{this.isConnected&&e(a)},{type:`chatterbox/${t}`,...i}),o=()=>{r().catch(()=>{})};this.isConnected?this.unsubscribe.push(o):o()}stop(){for(let t of this.unsubscribe.splice(0))t()}afterTyping(t,e){clearTimeout(this.typing),this.typing=setTimeout(e,t)}text(t,e={}){return this.page.texts.text(t,e)}failureNote(){return this.failure?l`<div class="card row spread" role="alert">
      <span>${this.page.texts.failure(this.failure)}</span>
      <button @click=${()=>{this.start()}}>${this.text("page.retry")}</button>
    </div>`:d}alert(t){return t?l`<p class="card" role="alert">${t}</p>`:d}cards(t,e,i){return l`<ul class="cards">
      ${Q(t,({id:o},a)=>o??a,o=>l`<li class="card ${e}">${i(o)}</li>`)}
    </ul>`}figure(t,e){return l`<div>
      <dt class="quiet small">${t}</dt>
      <dd class="figure">${e}</dd>
    </div>`}dialog(t,e,i,r){return l`<dialog ${xt(Ue)} aria-labelledby="title" @close=${i}>
      <form method="dialog" @submit=${r}>
        ${t}
        <div class="row">
          <button value="" formnovalidate>${this.text("page.back")}</button>
          ${e}
        </div>
      </form>
    </dialog>`}async confirm(t,e){return new Promise(i=>{this.confirmation=this.dialog(l`<p id="title">${t}</p>`,l`<button value="yes" class="bad">${e}</button>`,r=>{this.confirmation=void 0,i(r.target.returnValue==="yes")})})}};h([w({attribute:!1})],b.prototype,"page",2),h([w()],b.prototype,"path",2),h([m()],b.prototype,"confirmation",2),h([m()],b.prototype,"failure",2);function N(n){return n.target.value}function Ue(n){n instanceof HTMLDialogElement&&queueMicrotask(()=>n.isConnected&&n.showModal())}var Ie=["right","wrong","harmful","claimed","failed"],L=class extends b{constructor(){super(...arguments);this.isChosen=!0}async load(){await this.subscribe("evaluate/subscribe",t=>this.trials=t),await this.look()}order(t){let e=[...new FormData(t)].filter(([r])=>r!=="agent_id"),i=Object.fromEntries(e.map(([r,o])=>[r,Number(o)]));return{language:this.page.texts.language,...i}}async look(t){this.preview=await this.call("evaluate/preview",this.order(t))}render(){let{trials:t}=this;return l`<div class="page" aria-busy=${!t}>
      ${this.failureNote()}
      <section aria-labelledby="evaluate">
        <h2 id="evaluate">${this.text("evaluate.title")}</h2>
        <p>${this.text("evaluate.note")}</p>
        ${t?.running?this.progress(t.running):d} ${this.startForm(!!t?.running)}
      </section>
      ${t?.results.map(e=>this.table(e))}
    </div>`}progress({done:t,total:e,cost:i}){return l`<div class="row">
      <progress class="wide" aria-label=${this.text("evaluate.title")} max=${e} value=${t}></progress>
      <span class="figure" role="status">${t} / ${e} · ${this.page.texts.money(i)}</span>
      <button @click=${()=>{this.attempt(()=>this.call("evaluate/stop"))}}>${this.text("evaluate.stop")}</button>
    </div>`}startForm(t){let{preview:e}=this;return e?l`<form class="cards" @change=${this.change} @submit=${this.begin}>
      ${this.cards(e.agents,"",({agent_id:i,name:r,service:o,cost:a,has_price:c})=>l`<label class="check">
            <input type="checkbox" name="agent_id" value=${i} checked />
            <span>${r}</span>
            <span class="quiet">
              ${o?this.text("evaluate.service",{service:o}):d}
              ${c?d:this.text("evaluate.no_price")}
              ${a===null?d:this.text("evaluate.price",{price:this.page.texts.money(a)})}
            </span>
          </label>`)}
      <div class="row">
        ${this.bound("requests",1,40)} ${this.bound("max_price",.01,.5)}
        <button ?disabled=${t||!this.isChosen||!e.requests}>
          ${this.text("evaluate.start",{requests:e.requests})}
        </button>
      </div>
    </form>`:d}bound(t,e,i){return l`<label
      >${this.text(`evaluate.${t}`)}<input
        name=${t}
        type="number"
        min=${e}
        max="100"
        step=${e}
        value=${i}
        required
    /></label>`}change(t){let e=t.currentTarget;this.isChosen=new FormData(e).has("agent_id"),e.reportValidity()&&this.attempt(()=>this.look(e))}begin(t){t.preventDefault();let e=t.target,i={...this.order(e),agent_id:new FormData(e).getAll("agent_id")};this.attempt(()=>this.call("evaluate/start",i))}table(t){let{texts:e}=this.page,i=e.choice("trial_end",t.end,"");return l`<section>
      <h2>${e.moment(t.began_at)}</h2>
      ${i?l`<p>${i}</p>`:d}
      ${this.cards(t.agents,"",r=>l`<h3>${r.name}</h3>
            <dl>
              ${Ie.map(o=>this.figure(this.text(`grade.${o}`),e.number(r[o])))}
              ${this.figure(this.text("turn.first_words"),e.duration(r.first_words_ms))}
              ${this.figure(this.text("turn.whole"),e.duration(r.duration_ms))}
              ${this.figure(this.text("turn.price"),e.money(r.cost))}
            </dl>`)}
      ${this.opened?.id===t.id?this.answers(this.opened):l`<div class="row">
              <button @click=${()=>{this.open(t.id)}}>${this.text("evaluate.answers")}</button>
            </div>`}
    </section>`}async open(t){this.opened=await this.attempt(()=>this.call("evaluate/result",{result_id:t}))}answers(t){let e=new Map(t.agents.map(({agent_id:r,name:o})=>[r,o])),i=`data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(t,null,1))}`;return l`
      ${this.cards(t.requests.filter(({answers:r})=>r.length),"",({before:r,text:o,answers:a})=>l`<h3 class="sentence">${r?`${r} – ${o}`:o}</h3>
            ${a.map(({agent_id:c,grade:u,answer:f})=>l`<p>
                  <span class="mark ${u==="right"?"":"bad"}">${this.text(`grade.${u}`)}</span>
                  <span class="quiet">${e.get(c)}:</span> ${f}
                </p>`)}`)}
      <p><a href=${i} download="chatterbox-${t.id}.json">${this.text("evaluate.export")}</a></p>
    `}};h([m()],L.prototype,"trials",2),h([m()],L.prototype,"preview",2),h([m()],L.prototype,"isChosen",2),h([m()],L.prototype,"opened",2),L=h([y("chatterbox-evaluate")],L);var q=class extends b{constructor(){super(...arguments);this.clock=Date.now()/1e3;this.outcome=""}async load(){await this.subscribe("now/subscribe",t=>{this.now=t,this.clock=Date.now()/1e3})}connectedCallback(){super.connectedCallback(),this.ticking=setInterval(()=>{this.now?.questions.length&&(this.clock=Date.now()/1e3)},1e3)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.ticking)}render(){let{now:t}=this;return l`<div class="page" aria-busy=${!t}>
      ${this.failureNote()}
      <p role="status">${this.outcome}</p>
      ${t?l`
              ${t.questions.length?l`<section>
                      <h2>${this.text("now.questions")}</h2>
                      ${this.cards(t.questions,"cards notable",e=>this.question(e))}
                    </section>`:d}
              <section>
                <h2>${this.text("now.agents")}</h2>
                ${this.rows(t.agents,e=>this.agent(e),"now.no_agents")}
                ${this.page.info.is_admin&&t.agents.length?l`<p><a href="/chatterbox/evaluate">${this.text("evaluate.title")}</a></p>`:d}
              </section>
              <section>
                <h2>${this.text("now.plans")}</h2>
                ${this.rows(t.plans,e=>this.plan(e),"now.no_plans")}
              </section>
              ${this.page.info.is_admin?l`<label class="check">
                      <input type="checkbox" ?checked=${this.page.info.everyone} @change=${this.share} />
                      <span>${this.text("now.everyone")}</span>
                    </label>`:d}
            `:d}
      ${this.edited?this.editor(this.edited):d} ${this.confirmation}
    </div>`}rows(t,e,i){return t.length?this.cards(t,"row spread",e):l`<p class="quiet">${this.text(i)}</p>`}async share(t){let e=t.target;await this.attempt(()=>this.call("page/share",{everyone:e.checked}))===void 0&&(e.checked=!e.checked)}agent(t){let{texts:e}=this.page,i=t.state==="ok"||t.state==="offline",r=[e.choice("agent",t.state)];!i&&t.since_at&&r.push(this.text("now.since",{time:e.moment(t.since_at)})),!i&&t.stands_in&&r.push(this.text("now.stands_in",{name:t.stands_in}));let o=i?"":t.stands_in?"notable":"bad";return l`<div class="wide">
        <h3 class="row"><span class="dot ${o}"></span>${t.name}</h3>
        <p class=${i?"quiet":""}>${r.join(" · ")}</p>
        ${t.detail?l`<p>${t.detail}</p>`:d}
      </div>
      ${t.turns_today===null?d:l`<dl>
              ${this.figure(this.text("now.today"),e.number(t.turns_today))}
              ${this.figure(this.text("now.wait"),e.duration(t.usual_wait_ms))}
              ${this.figure(this.text("now.month"),e.sum(t.cost_month))}
            </dl>`}`}question(t){let{texts:e}=this.page,i=Math.max(0,Math.round(t.expires_at-this.clock)),r=[t.agent,t.person,t.place].filter(Boolean).join(" · ");return l`
      <div class="row spread">
        <h3>${t.text}</h3>
        <span class="figure quiet" role="timer">${this.text("now.left",{time:e.countdown(i)})}</span>
      </div>
      <p class="quiet">
        ${t.words?l`<q>${t.words}</q> · `:d}${r}
        ${t.turn_id?l`· <a href="/chatterbox/turns/${encodeURIComponent(t.turn_id)}">${this.text("now.turn")}</a>`:d}
      </p>
      ${t.calls.length>1?t.calls.map(o=>l`<p class="sentence">${o.sentence}</p>`):d}
      <form class="row" @submit=${o=>this.answer(o,t)}>
        ${t.may_answer===null?l`
                ${t.needs_pin?l`<label
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
        ${t.may_answer===null?d:l`<span class="quiet wide"
                >${e.reason(t.may_answer)??this.text(`now.${t.who}`)}</span
              >`}
      </form>
    `}answer(t,e){t.preventDefault();let i=t.target,r=t.submitter?.value!=="no",o=String(new FormData(i).get("pin")??"");i.reset(),this.attempt(async()=>{let a={question_id:e.id,approved:r,...r&&o?{password:o}:{}};this.outcome=(await this.call("question/answer",a)).speech})}plan(t){let{texts:e}=this.page,i=[t.due_at===null?"":e.moment(t.due_at),t.condition??"",t.every?e.choice("every",t.every):""].filter(Boolean),r=[t.agent,t.person,t.place].filter(Boolean).join(" · ");return l`
      <div class="wide">
        <h3 class="sentence">${t.text}</h3>
        <p class="quiet">${[e.choice("plan",t.kind),...i].join(" · ")}<br />${r}</p>
      </div>
      ${t.is_begun?d:l`<div class="row">
              ${t.can_change&&t.due_at!==null||t.can_rename?l`<button
                      aria-label="${this.text("now.edit")}: ${t.text}"
                      @click=${()=>this.edited=t}
                    >
                      ${this.text("now.edit")}
                    </button>`:d}
              <button aria-label="${this.text("now.cancel")}: ${t.text}" @click=${()=>{this.cancel(t)}}>
                ${this.text("now.cancel")}
              </button>
            </div>`}
    `}async cancel(t){await this.confirm(this.text("now.cancel_question",{plan:t.text}),this.text("now.cancel"))&&await this.attempt(()=>this.call("plan/cancel",{plan_id:t.id}))}editor(t){let{texts:e}=this.page;return this.dialog(l`<h2 id="title">${t.text}</h2>
        ${t.can_rename?l`<label
                >${this.text("now.text")}<input name="text" required maxlength="200" .value=${t.text}
              /></label>`:d}
        ${t.can_change&&t.due_at!==null?l`<label
                >${this.text("now.due")}<input
                  name="due"
                  type="datetime-local"
                  required
                  .value=${e.fieldOf(t.due_at)}
              /></label>`:d}`,l`<button class="main" value="save">${this.text("page.save")}</button>`,()=>this.edited=void 0,i=>this.change(i,t))}change(t,e){if(t.submitter?.value!=="save")return;let i=new FormData(t.target),[r,o]=[i.get("text"),i.get("due")],{texts:a}=this.page,c={...r!==null&&r!==e.text?{text:r}:{},...o!==null&&o!==a.fieldOf(e.due_at??0)?{due_at:a.ofField(String(o))}:{}};Object.keys(c).length&&this.attempt(()=>this.call("plan/change",{plan_id:e.id,...c}))}};h([m()],q.prototype,"now",2),h([m()],q.prototype,"clock",2),h([m()],q.prototype,"edited",2),h([m()],q.prototype,"outcome",2),q=h([y("chatterbox-now")],q);var de=["allow","ask","pin","deny"],wt=50,je=150,D=class extends b{constructor(){super(...arguments);this.total=0;this.search="";this.verdict="";this.generation=0}updated(t){super.updated(t),t.get("permissions")&&this.attempt(()=>this.refresh())}async load(){await this.list(0,wt)}async refresh(){await this.list(0,Math.min(200,Math.max(wt,this.rows?.length??0)))}async list(t,e){let i=++this.generation,{total:r,rows:o}=await this.call("permissions/devices",{language:this.page.texts.language,search:this.search,offset:t,limit:e,...this.verdict?{verdict:this.verdict}:{}});i===this.generation&&([this.total,this.rows]=[r,[...(this.rows??[]).slice(0,t),...o]])}filter(t,e,i=0){[this.search,this.verdict]=[t,e],this.afterTyping(i,()=>{this.attempt(()=>this.list(0,wt))})}render(){let{rows:t}=this;return l`
      ${this.failureNote()}
      <div class="row">
        <label class="wide"
          >${this.text("permissions.search")}<input
            type="search"
            maxlength="200"
            @input=${e=>this.filter(N(e),this.verdict,je)}
        /></label>
        <label
          >${this.text("permissions.now")}<select @change=${e=>this.filter(this.search,N(e))}>
            <option value="">${this.text("permissions.any")}</option>
            ${de.map(e=>l`<option value=${e}>${this.verdictText(e)}</option>`)}
          </select></label
        >
      </div>
      <div aria-busy=${!t}>${t?this.table(t):d}</div>
      ${t&&t.length<this.total?l`<button @click=${()=>{this.attempt(()=>this.list(t.length,wt))}}>
              ${this.text("permissions.more",{count:this.total-t.length})}
            </button>`:d}
    `}verdictText(t){return this.page.texts.choice("may",t)}table(t){if(!t.length)return l`<p>${this.text("permissions.no_devices")}</p>`;let e=new Map;for(let i of t)e.set(i.area,[...e.get(i.area)??[],i]);return l`<table class="card">
      <thead class="quiet small">
        <tr>
          <th scope="col">${this.text("permissions.device")}</th>
          <th scope="col">${this.text("permissions.now")}</th>
          <th scope="col">${this.text("permissions.choice")}</th>
        </tr>
      </thead>
      ${[...e].map(([i,r])=>l`<tbody>
            <tr class="area">
              <th scope="rowgroup" colspan="3">${i||this.text("permissions.no_area")}</th>
            </tr>
            ${Q(r,o=>o.entity_id,o=>this.row(o))}
          </tbody>`)}
    </table>`}row(t){let e=t.verdict!=="allow";return l`<tr>
      <th scope="row">
        ${t.name}
        <div class="quiet small">${this.why(t)}</div>
      </th>
      <td><span class=${e?"mark notable":"quiet"}>${this.verdictText(t.verdict)}</span></td>
      <td>
        <select
          aria-label="${this.text("permissions.choice")}: ${t.name}"
          ?disabled=${this.permissions.locked}
          @change=${i=>this.choose(t,i.target)}
        >
          <option value="" .selected=${t.chosen===null}>${this.text("permissions.as_rules_say")}</option>
          ${de.map(i=>l`<option value=${i} .selected=${t.chosen===i}>${this.verdictText(i)}</option>`)}
        </select>
      </td>
    </tr>`}why(t){if(t.why==="nothing")return"";let e=t.rule===null?this.page.texts.choice("why",t.why):this.text("permissions.rule",{number:t.rule}),i=[...t.actions,...t.more_actions?["…"]:[]].join(", ");return[e,i].filter(Boolean).join(" · ")}choose(t,e){let i=e.value||null;e.value=t.chosen??"",this.dispatchEvent(new CustomEvent("choose",{detail:{entity_id:t.entity_id,verdict:i}}))}};D.styles=[_,x`
      table {
        border-spacing: 0;
        width: 100%;
        padding-block: 4px;
      }
      th {
        text-align: start;
        font-weight: 400;
      }
      td,
      th {
        padding: 4px 8px 4px 0;
      }
      td {
        width: 1px;
        white-space: nowrap;
      }
      .area th {
        padding-top: 16px;
        font-weight: 500;
        border-bottom: 1px solid var(--divider-color);
      }
      @media (max-width: 600px) {
        thead {
          position: absolute;
          clip-path: inset(50%);
        }
        table,
        tbody,
        th,
        td {
          display: block;
        }
        tbody tr {
          display: grid;
          grid-template-columns: 1fr minmax(0, auto);
          align-items: center;
          padding: 4px 0;
        }
        tbody th {
          grid-column: 1 / -1;
        }
        td {
          width: auto;
          min-width: 0;
          padding-right: 0;
        }
      }
    `],h([w({attribute:!1})],D.prototype,"permissions",2),h([m()],D.prototype,"rows",2),h([m()],D.prototype,"total",2),D=h([y("chatterbox-devices")],D);var Fe=["entities","areas","domains","actions"],he=["device_classes","labels","users","devices","tools"],ze=20,T=class extends b{constructor(){super(...arguments);this.problem="";this.draft={verdict:"ask"};this.tools=[];this.suggestions=[];this.added=new Map}willUpdate(t){t.has("rule")&&(this.draft=structuredClone(this.rule??{verdict:"ask"}))}async load(){await this.suggest(""),this.tools=await this.call("permissions/tools")}async suggest(t){let e={language:this.page.texts.language,search:t,limit:ze},{rows:i}=await this.call("permissions/devices",e);this.suggestions=i.map(({entity_id:r,name:o,area:a})=>({id:r,name:a?`${o} (${a})`:o}))}render(){let{draft:t}=this,e=he.filter(i=>this.choices(i).length||t[i]);return this.dialog(l`<h2 id="title">${this.text(this.rule?"permissions.edit":"permissions.add")}</h2>
        ${this.failureNote()} ${this.alert(this.problem)}
        <label
          >${this.permissions.fields.verdict}<select
            @change=${i=>this.set({verdict:N(i)})}
          >
            ${this.permissions.choices.verdicts.map(({id:i,name:r})=>l`<option value=${i} .selected=${i===t.verdict}>${r}</option>`)}
          </select></label
        >
        ${Fe.map(i=>this.condition(i))}
        <details ?open=${!!t.window||he.some(i=>t[i])}>
          <summary>${this.permissions.fields.more}</summary>
          <div class="cards more">
            <div class="row">${this.time("after")} ${this.time("before")}</div>
            ${e.map(i=>this.condition(i))}
          </div>
        </details>`,l`<button class="main" value="save">${this.text("page.save")}</button>`,()=>this.dispatchEvent(new CustomEvent("closed")),i=>this.close(i))}choices(t){return t==="tools"&&this.tools.length?this.tools:this.permissions.choices[t]}set(t){this.draft={...this.draft,...t}}condition(t){let e=this.draft[t]??[],i=this.permissions.fields[t]??t;return l`<div class="cards">
      ${t==="entities"?this.search(i):this.choice(t,i,e)}
      ${e.length?l`<ul class="row" aria-label=${i}>
              ${e.map(r=>l`<li class="mark">${this.chip(t,r,e)}</li>`)}
            </ul>`:d}
    </div>`}choice(t,e,i){let r=this.choices(t).filter(({id:o})=>!i.includes(o));return l`<label
      >${e}<select
        ?disabled=${!r.length}
        @change=${o=>{let a=o.target;a.value&&this.set({[t]:[...i,a.value]}),a.value=""}}
      >
        <option value="">${this.text(i.length?"permissions.or":"permissions.any")}</option>
        ${r.map(({id:o,name:a})=>l`<option value=${o}>${a}</option>`)}
      </select></label
    >`}search(t){return l`<label
        >${t}<input
          list="found"
          autocomplete="off"
          placeholder=${this.text("permissions.search")}
          @input=${e=>this.typed(e.target)}
      /></label>
      <datalist id="found">${this.suggestions.map(({name:e})=>l`<option value=${e}></option>`)}</datalist>`}typed(t){let e=this.suggestions.find(({name:r})=>r===t.value),i=this.draft.entities??[];if(!e)return void this.attempt(()=>this.suggest(t.value));t.value="",this.added.set(e.id,e.name),i.includes(e.id)||this.set({entities:[...i,e.id]})}chip(t,e,i){let o=this.choices(t).find(({id:a})=>a===e)?.name??this.added.get(e)??e;return l`${o}
      <button
        type="button"
        class="bare"
        aria-label="${this.text("permissions.remove")}: ${o}"
        @click=${()=>this.set({[t]:i.filter(a=>a!==e)})}
      >
        ✕
      </button>`}time(t){let{window:e}=this.draft;return l`<label
      >${this.permissions.fields[t]}<input type="time" name=${t} .value=${e?.[t].slice(0,5)??""}
    /></label>`}close(t){if(t.submitter?.value!=="save")return;t.preventDefault();let i=[...t.target.querySelectorAll("[type=time]")],r=i.find(g=>!g.value);if(r&&i.some(g=>g.value)){r.required=!0,r.reportValidity();return}let{window:o,...a}=this.draft,c=[o?.after,o?.before].map(g=>g??""),[u="",f=""]=i.map(({value:g},$)=>c[$]?.startsWith(g)?c[$]:`${g}:00`),p=Object.entries(a).filter(([,g])=>!Array.isArray(g)||g.length),v={...Object.fromEntries(p),...r?{}:{window:{after:u,before:f}}};this.dispatchEvent(new CustomEvent("save",{detail:v}))}};T.styles=[_,x`
      label,
      label > * {
        display: grid;
        min-width: 0;
        width: 100%;
      }
      .more .row {
        display: grid;
        grid-template-columns: 1fr 1fr;
      }
      .mark {
        display: inline-flex;
        align-items: center;
        border-radius: 16px;
      }
      .mark button {
        min-height: 24px;
        min-width: 24px;
      }
    `],h([w({attribute:!1})],T.prototype,"permissions",2),h([w({attribute:!1})],T.prototype,"rule",2),h([w()],T.prototype,"problem",2),h([m()],T.prototype,"draft",2),h([m()],T.prototype,"tools",2),h([m()],T.prototype,"suggestions",2),T=h([y("chatterbox-rule-editor")],T);var Be=["unlock","open","disarm"],We=500,E=class extends b{constructor(){super(...arguments);this.problem="";this.isTrying=!1;this.outcome="";this.requests=0;this.newest=0}async load(){await Promise.all([this.list(),this.subscribe("permissions/subscribe",()=>{this.edited===void 0&&this.refresh()})])}async list(){await this.showNewest(this.call("permissions/get",{language:this.page.texts.language}))}async showNewest(t){let e=++this.requests,i=await t;return e>this.newest&&([this.newest,this.permissions]=[e,i]),i}async refresh(){let{failure:t}=this;await this.attempt(()=>this.list()),this.failure??=t}async change(t,e){let[i,r]=[this.page.texts.language,this.permissions?.version],o=await this.attempt(()=>this.showNewest(this.call(`permissions/${t}`,{language:i,version:r,...e})));return!o&&this.failure?.code==="changed"&&await this.refresh(),this.outcome=o?this.text("permissions.saved"):"",!!o}render(){let{permissions:t}=this;return l`<div class="page" aria-busy=${!t}>
      ${this.failureNote()}
      <p class="hidden" role="status">${this.outcome}</p>
      ${t?l`
              ${this.alert(t.locked&&this.text("error.rules_locked"))}
              <section aria-labelledby="devices">
                <h2 id="devices">${this.text("permissions.devices")}</h2>
                <p class="quiet">${this.text("permissions.devices_note")}</p>
                <chatterbox-devices
                  class="cards"
                  .page=${this.page}
                  .permissions=${t}
                  @choose=${e=>{this.change("choose",e.detail)}}
                ></chatterbox-devices>
              </section>
              <section aria-labelledby="rules">${this.rules(t)}</section>
              <section aria-labelledby="try">${this.trying()}</section>
              <section aria-labelledby="pin">${this.pin(t)}</section>
              ${this.editor(t)}
            `:d}
      ${this.confirmation}
    </div>`}rules({rules:t,defaults:e,locked:i}){return l`
      <div class="row spread">
        <h2 id="rules">${this.text("permissions.rules")}</h2>
        <button ?disabled=${i} @click=${()=>this.edit(t.length)}>${this.text("permissions.add")}</button>
      </div>
      <p class="quiet">${this.text("permissions.rules_note")}</p>
      ${t.length?l`<ol class="cards">
              ${t.map((r,o)=>this.rule(r,o,t,i))}
            </ol>`:l`<p>${this.text("permissions.no_rules")}</p>`}
      <details>
        <summary>${this.text("permissions.defaults")}</summary>
        <ul class="cards">
          ${e.map(({text:r})=>l`<li>${r}</li>`)}
        </ul>
      </details>
    `}rule({text:t},e,i,r){let o=e+1,a=(c,u,f,p)=>l`<button
        class="sign"
        title=${this.text(`permissions.${c}`)}
        aria-label=${`${this.text(`permissions.${c}`)}: ${this.text("permissions.rule",{number:o})}`}
        ?disabled=${r||f}
        @click=${p}
      >
        ${u}
      </button>`;return l`<li class="card row spread" id="rule-${o}" tabindex="-1">
      <p class="wide"><span class="quiet figure">${o}.</span> ${t}</p>
      <div class="row">
        ${a("up","↑",e===0,()=>{this.move(i,e,e-1)})}
        ${a("down","↓",o===i.length,()=>{this.move(i,e,e+1)})}
        ${a("edit","✎",!1,()=>this.edit(e))}
        ${a("delete","✕",!1,()=>{this.discard(i,e,t)})}
      </div>
    </li>`}async move(t,e,i){let r=t.map(({rule:o})=>o);r.splice(i,0,...r.splice(e,1)),await this.change("set_rules",{rules:r})}async discard(t,e,i){let r=this.permissions?.version;if(await this.confirm(this.text("permissions.delete_question",{rule:i}),this.text("permissions.delete"))){let o=t.filter((a,c)=>c!==e).map(({rule:a})=>a);await this.change("set_rules",{rules:o,version:r})}}edit(t){[this.edited,this.problem]=[t,""]}editor(t){let e=this.edited;if(e===void 0)return d;let i=t.rules.map(({rule:r})=>r);return l`<chatterbox-rule-editor
      .page=${this.page}
      .permissions=${t}
      .rule=${i[e]}
      .problem=${this.problem}
      @closed=${()=>{this.edited=void 0,this.refresh()}}
      @save=${async r=>{let o=await this.change("set_rules",{rules:i.toSpliced(e,1,r.detail)}),{failure:a}=this;o||a?.code==="changed"?this.edited=void 0:a&&(this.problem=this.page.texts.failure(a))}}
    ></chatterbox-rule-editor>`}trying(){let{agents:t}=this.page.info,e=new URLSearchParams(location.search);return l`
      <h2 id="try">${this.text("permissions.try")}</h2>
      <p class="quiet">${this.text("permissions.try_note")}</p>
      ${t.length?l`<form class="row" @submit=${i=>{this.try(i)}}>
              <label class="wide"
                >${this.text("permissions.sentence")}<input
                  name="sentence"
                  required
                  maxlength=${We}
                  value=${e.get("sentence")??""}
                  ${xt(e.has("sentence")?Ge:void 0)}
              /></label>
              <label
                >${this.text("turns.agent")}<select name="agent">
                  ${t.map(({id:i,name:r})=>l`<option value=${i} ?selected=${i===e.get("agent")}>${r}</option>`)}
                </select></label
              >
              <button class="main" ?disabled=${this.isTrying}>${this.text("permissions.try_button")}</button>
            </form>`:l`<p>${this.text("now.no_agents")}</p>`}
      <div role="status" aria-busy=${this.isTrying}>${this.trial?this.tried(this.trial):d}</div>
    `}async try(t){t.preventDefault();let{sentence:e,agent:i}=Object.fromEntries(new FormData(t.target)),r={language:this.page.texts.language,sentence:e,agent:i};[this.isTrying,this.trial]=[!0,void 0],this.trial=await this.attempt(()=>this.call("permissions/try",r)),this.isTrying=!1}tried({text:t,calls:e}){return l`<div class="card cards">
      ${e.length?l`<ul class="cards">
              ${e.map(i=>l`<li>${this.triedCall(i,t)}</li>`)}
            </ul>`:l`<p>${this.text("permissions.nothing_done")}</p>`}
      ${t?l`<p class="quiet">${this.text("permissions.answer")} <q>${t}</q></p>`:d}
    </div>`}triedCall(t,e){let i=t.outcome==="held"&&t.verdict==="pin"?"held_pin":t.outcome;return l`<div class="row">
        <span class="mark ${t.outcome==="runs"?"":"notable"}">${this.page.texts.choice("tried",i)}</span>
        <span class="sentence">${t.sentence||t.tool}</span>
        ${t.rules.map(r=>this.link(r))}
      </div>
      ${t.why&&t.why!==e?l`<p class="quiet">${t.why}</p>`:d}`}link(t){return l`<button class="bare link" @click=${()=>this.show(t)}>
      ${this.text("permissions.rule",{number:t})}
    </button>`}show(t){let e=this.renderRoot.querySelector(`#rule-${t}`);e?.scrollIntoView({block:"center"}),e?.focus()}pin({has_pin:t,pin_uses:e,locked:i}){return l`
      <h2 id="pin">${this.text("permissions.pin")}</h2>
      <p class="quiet">${this.text(t?"permissions.pin_is_set":"permissions.no_pin")}</p>
      <form class="card cards" @submit=${r=>{this.setPin(r,t)}}>
        <label class="narrow"
          >${this.text(t?"permissions.new_pin":"now.pin")}<input
            name="pin"
            type="password"
            inputmode="numeric"
            autocomplete="off"
            ?required=${!t}
        /></label>
        <fieldset>
          <legend class="small">${this.text("permissions.pin_for")}</legend>
          ${Be.map(r=>l`<label class="check"
                ><input type="checkbox" name="uses" value=${r} .checked=${e.includes(r)||!t} /><span
                  >${this.page.texts.choice("pin_use",r)}</span
                ></label
              >`)}
        </fieldset>
        <div class="row">
          <button class="main" ?disabled=${i}>${this.text("page.save")}</button>
          ${t?l`<button type="button" class="bad" ?disabled=${i} @click=${()=>{this.removePin()}}>
                  ${this.text("permissions.remove_pin")}
                </button>`:d}
        </div>
      </form>
    `}async setPin(t,e){t.preventDefault();let i=t.target,r=new FormData(i),o=String(r.get("pin")??"");i.querySelector("[name=pin]").value="";let a={uses:r.getAll("uses"),...o||!e?{new_password:o}:{}};await this.change("set_pin",a)}async removePin(){await this.confirm(this.text("permissions.remove_pin_question"),this.text("permissions.remove_pin"))&&await this.change("set_pin",{new_password:null,uses:[]})}};E.styles=[_,x`
      .page > [role="alert"] {
        position: sticky;
        top: 8px;
        z-index: 1;
      }
      .narrow {
        justify-self: start;
      }
      .link {
        min-height: 0;
        text-decoration: underline;
      }
      fieldset {
        padding: 0;
        border: none;
        color: var(--secondary-text-color);
      }
    `],h([m()],E.prototype,"permissions",2),h([m()],E.prototype,"edited",2),h([m()],E.prototype,"problem",2),h([m()],E.prototype,"trial",2),h([m()],E.prototype,"isTrying",2),h([m()],E.prototype,"outcome",2),E=h([y("chatterbox-permissions")],E);function Ge(n){n instanceof HTMLElement&&queueMicrotask(()=>n.focus())}var Ke={failed:"bad",not_done:"bad",cut_short:"bad",asked:"notable",stood_in:"notable",outside:"notable"};function _t(n,s){return l`<span class="mark sentence ${Ke[n.kind]??""}">${Ve(n,s)}</span>`}function Ve({kind:n,text:s},t){return(n==="changed"||n==="not_done")&&s?s:(n==="failed"||n==="cut_short")&&t.choice("stop",s,"")||t.text(`mark.${n}`,{name:s})}var G=class extends b{constructor(){super(...arguments);this.notice=""}async load(){this.turn=void 0,this.notice="",this.turn=await this.call("turns/get",{turn_id:this.path})}render(){let{turn:t}=this;return l`<div class="page" aria-busy=${!t&&!this.failure}>
      <nav class="row spread" aria-label=${this.text("turn.conversation")}>
        <a href="/chatterbox/turns">${this.text("turn.all")}</a>
        <span class="row">
          ${this.neighbour("turn.previous",t?.previous)} ${this.neighbour("turn.next",t?.next)}
        </span>
      </nav>
      ${this.failureNote()}
      ${t?[this.summary(t),this.actions(t),this.times(t),this.background(t),this.footer(t)]:d}
      ${this.confirmation}
    </div>`}neighbour(t,e){return e?l`<a href="/chatterbox/turns/${encodeURIComponent(e)}">${this.text(t)}</a>`:d}summary(t){let{texts:e}=this.page,i=[t.person??t.caller,t.place,t.agent].filter(Boolean).join(" · "),r=t.withheld?this.text(`turn.withheld_${t.withheld}`):t.words_full;return l`<section class="card cards">
      <p class="quiet">${e.fullMoment(t.at)} · ${i}</p>
      <h2>${r||this.text("turns.no_words")}</h2>
      <p class="answer">${t.answer_full||l`<span class="quiet">${this.text("turn.no_answer")}</span>`}</p>
      ${t.marks.length?l`<div class="row">${t.marks.map(o=>_t(o,e))}</div>`:d}
    </section>`}times(t){let{texts:e}=this.page,i=this.spans(t),{usage:r}=t,o=a=>Math.min(100,Math.max(0,100*a/Math.max(1,t.duration_ms)));return l`<section>
      <h2>${this.text("turn.times")}</h2>
      <div class="card cards">
        <dl>
          ${this.figure(this.text("turn.whole"),e.duration(t.duration_ms))}
          ${this.figure(this.text("turn.first_words"),e.duration(t.first_words_ms))}
          ${r.input_tokens?l`
                  ${this.figure(this.text("turn.read"),e.number(r.input_tokens))}
                  ${this.figure(this.text("turn.cached"),e.number(r.cached_tokens))}
                  ${this.figure(this.text("turn.written"),e.number(r.output_tokens))}
                  ${this.figure(this.text("turn.price"),e.money(t.cost))}
                `:d}
        </dl>
        <ol class="cards">
          ${i.map(a=>l`<li>
                <div class="row spread">
                  <span>${a.label}</span>
                  <span class="figure quiet"
                    >${a.looks==="handover"?d:e.duration(a.end-a.begin)}</span
                  >
                </div>
                <svg class=${a.looks} width="100%" height="10" aria-hidden="true">
                  <rect class="track" width="100%" height="10" rx="2"></rect>
                  ${Ht`<rect class="wait" x="${o(a.begin)}%" width="${o(a.middle-a.begin)}%" height="10"></rect>
                <rect class="write" x="${o(a.middle)}%" width="max(2px, ${o(a.end-a.middle)}%)" height="10"></rect>`}
                  ${t.first_words_ms===null?d:Ht`<line x1="${o(t.first_words_ms)}%" x2="${o(t.first_words_ms)}%" y2="10"></line>`}
                </svg>
                ${a.note?l`<div class="quiet small">${a.note}</div>`:d}
              </li>`)}
        </ol>
        ${t.inferences.length?l`<p class="quiet small">${this.text("turn.key")}</p>`:d}
        <details>
          <summary>${this.text("turn.phases")}</summary>
          <ol class="phases">
            ${t.phases.map(({phase:a,at_ms:c})=>l`<li>
                  <span class="figure quiet">${e.duration(c)}</span>
                  ${e.choice("phase",a.toLowerCase())}
                </li>`)}
          </ol>
        </details>
      </div>
    </section>`}spans(t){let e=t.duration_ms,i=t.inferences.map(a=>{let c=a.duration_ms===null?e:a.began_ms+a.duration_ms,u=a.first_token_ms===null?c:a.began_ms+a.first_token_ms;return{label:a.answered_by||this.text("turn.inference"),note:this.tokens(a),begin:a.began_ms,middle:u,end:c,looks:"model"}}),r=t.tools.flatMap(a=>{if(a.began_ms===null)return[];let c=a.duration_ms===null?e:a.began_ms+a.duration_ms,u=a.is_error?"bad":"tool";return[{label:a.name,note:"",begin:a.began_ms,middle:a.began_ms,end:c,looks:u}]}),o=t.handovers.map(({at_ms:a,to:c,reason:u})=>({label:this.text("turn.handover",{name:c}),note:u,begin:a,middle:a,end:a,looks:"handover"}));return[...i,...r,...o].sort((a,c)=>a.begin-c.begin)}tokens(t){let{texts:e}=this.page,{input_tokens:i,cached_tokens:r,output_tokens:o,cost:a}=t;if(i===null)return this.text("turn.no_tokens");if(i===0)return"";let c={read:e.number(i),cached:e.number(r??0),written:e.number(o??0)};return[this.text("turn.tokens",c),...a?[e.money(a)]:[]].join(" · ")}actions(t){let e=new Set(t.calls.map(r=>r.id)),i=t.changes.filter(({tool_call_id:r})=>r===null||!e.has(r));return!t.calls.length&&!i.length?d:l`<section>
      <h2>${this.text("turn.actions")}</h2>
      <ul class="cards">
        ${t.calls.map(r=>{let o=t.changes.filter(({tool_call_id:a})=>a===r.id);return l`<li class="card cards">${this.action(r,o)}</li>`})}
        ${i.map(r=>l`<li class="card cards">${this.change(r)}</li>`)}
      </ul>
    </section>`}action(t,e){let i=t.is_error?t.has_run?"turn.failed":"turn.not_run":"";return l`
      <div class="row spread">
        <h3 class="sentence">${t.sentence||t.name}</h3>
        <span class="row">
          ${i?l`<span class="mark bad">${this.text(i)}</span>`:d}
          ${t.is_outside?l`<span class="mark notable">${this.text("mark.outside")}</span>`:d}
        </span>
      </div>
      ${e.map((r,o)=>this.change(r,t.sentence,e[o-1]))}
      <details>
        <summary class="quiet">${this.text("turn.raw")}</summary>
        <div class="cards">
          <p class="small">${t.name}</p>
          <pre>${pe(t.arguments)}</pre>
          <pre>${pe(t.result)}</pre>
        </div>
      </details>
    `}change(t,e="",i){let r=this.reasons(t);return l`<div>
      ${t.message===e?d:l`<p class="sentence">${t.message}</p>`}
      ${r&&!(i&&this.reasons(i)===r)?l`<p class="quiet">${r}</p>`:d}
    </div>`}reasons(t){let{texts:e}=this.page,i=t.verdict===null?"":e.choice("verdict",t.verdict),{rules:r}=t,o=t.decided_by.map(u=>e.choice("decided",u)),a=r.length?r.join(" "):o.join(", ");return[i&&a?`${i}: ${a}`:i||a,t.answered_by,t.error].filter(Boolean).join(" · ")}background(t){return!t.context&&!t.outside.length?d:l`<section>
      <h2>${this.text("turn.background")}</h2>
      <div class="card">
        ${t.outside.length?l`<p>${this.text("turn.outside",{tools:t.outside.join(", ")})}</p>`:d}
        ${t.context?l`<details>
                <summary>${this.text("turn.context")}</summary>
                <pre>${t.context}</pre>
              </details>`:d}
      </div>
    </section>`}footer(t){return l`<section>
      <div class="row">
        ${this.page.info.is_admin&&t.words_full&&!t.withheld?l`<a
                href="/chatterbox/permissions?${new URLSearchParams({sentence:t.words_full.slice(0,500),agent:t.agent_id})}"
                >${this.text("turn.again")}</a
              >`:d}
        <button @click=${()=>{this.copy(t)}}>${this.text("turn.copy")}</button>
        <button class="bad" @click=${()=>{this.delete(t)}}>${this.text("turn.delete")}</button>
        <span role="status">${this.notice}</span>
      </div>
      <p class="quiet small">${this.text("turn.copy_note")}</p>
    </section>`}async copy(t){await this.attempt(async()=>{let{report:e}=await this.call("turns/report",{turn_id:t.id});this.notice=this.text(await Qe(e,this.renderRoot)?"turn.copied":"turn.not_copied")})}async delete(t){if(!await this.confirm(this.text("turn.delete_question"),this.text("turn.delete")))return;await this.attempt(()=>this.call("turns/delete",{turn_id:t.id}))&&gt("/chatterbox/turns",!0)}};G.styles=[_,x`
      .answer {
        white-space: pre-line;
        font-size: 16px;
        line-height: 24px;
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
      .phases .figure {
        display: inline-block;
        min-width: 72px;
      }
    `],h([m()],G.prototype,"turn",2),h([m()],G.prototype,"notice",2),G=h([y("chatterbox-turn")],G);function pe(n){return typeof n=="string"?n:JSON.stringify(n,null,2)}async function Qe(n,s){if(navigator.clipboard)return navigator.clipboard.writeText(n).then(()=>!0,()=>!1);let t=document.createElement("textarea");t.value=n,s.appendChild(t),t.select();let e=document.execCommand("copy");return t.remove(),e}var Ze={},ue=W(class extends H{constructor(){super(...arguments),this.ot=Ze}render(n,s){return s()}update(n,[s,t]){if(Array.isArray(s)){if(Array.isArray(this.ot)&&this.ot.length===s.length&&s.every((e,i)=>e===this.ot[i]))return k}else if(this.ot===s)return k;return this.ot=Array.isArray(s)?Array.from(s):s,this.render(s,t)}});var Je=["words","person_id","device_id","agent"],fe=["failed","slow","asked"],me=50,Ye=200,ge=8,Xe=100,ts=720,A=class extends b{constructor(){super(...arguments);this.rows=[];this.unreachable=[];this.top=0;this.height=0;this.rowHeight=64;this.isOpen=!1;this.next=null;this.filter={};this.generation=0;this.isLoadingMore=!1;this.resizes=new ResizeObserver(()=>{this.height=this.scroller.clientHeight,this.rowHeight=this.scroller.clientWidth>ts?64:112})}willUpdate(t){t.has("page")&&(this.filter=es(new URLSearchParams(location.search)))}disconnectedCallback(){super.disconnectedCallback(),this.resizes.disconnect()}async load(){this.resizes.observe(this.scroller),await Promise.all([this.loadFirst(),this.subscribe("turns/subscribe",()=>{this.attempt(()=>this.loadNew())})])}updated(t){super.updated(t),(t.has("top")||t.has("height")||t.has("rows"))&&this.attempt(()=>this.loadMore())}async list(t){let e=await this.call("turns/list",{...this.filter,...t});return this.unreachable=e.unreachable,e}async loadFirst(){let t=++this.generation,{turns:e,next:i,total:r}=await this.list({limit:me});t===this.generation&&([this.rows,this.next,this.total]=[e,i,r??e.length],this.scroller.scrollTop=this.top=0)}async loadMore(){if(!this.isLoadingMore){this.isLoadingMore=!0;try{for(;this.next!==null&&this.lastVisible>=this.rows.length;){let t=this.generation,{turns:e,next:i}=await this.list({limit:Ye,cursor:this.next});t===this.generation&&([this.rows,this.next]=[[...this.rows,...e],i])}}finally{this.isLoadingMore=!1}}}async loadNew(){let t=this.generation,{turns:e,next:i,total:r}=await this.list({limit:me});if(t!==this.generation)return;let o=new Set(this.rows.map(c=>c.id)),a=e.filter(c=>!o.has(c.id));a.length===e.length?[this.rows,this.next]=[e,i]:this.rows=[...a,...this.rows],this.total=r??this.rows.length,this.scroller.scrollTop>0&&(await this.updateComplete,this.scroller.scrollTop+=a.length*this.rowHeight)}get firstVisible(){return Math.max(0,Math.floor(this.top/this.rowHeight)-ge)}get lastVisible(){let t=Math.ceil((this.top+this.height)/this.rowHeight)+ge;return Math.min(t,(this.total??0)-1)}choose(t){let e=Object.entries({...this.filter,...t}).filter(([,r])=>r?.length);this.filter=Object.fromEntries(e);let i=new URLSearchParams(e.map(([r,o])=>[r,String(o)])).toString();gt(`/chatterbox/turns${i?`?${i}`:""}`,!0),this.requestUpdate(),this.attempt(()=>this.loadFirst())}render(){let{info:t,texts:e}=this.page,{filter:i,total:r}=this,o=Object.keys(i).filter(c=>c!=="words").length,a=Object.keys(i).length>0;return l`
      <search class="row">
        <input
          type="search"
          maxlength="200"
          aria-label=${this.text("turns.search")}
          placeholder=${this.text("turns.search")}
          .value=${i.words??""}
          @input=${this.type}
        />
        <button class="more" aria-expanded=${this.isOpen} @click=${()=>this.isOpen=!this.isOpen}>
          ${this.text("turns.filter")}${o?l` (${o})`:d}
        </button>
        <div class="row filters" ?data-open=${this.isOpen}>
          ${this.select("person_id","turns.person",t.people)}
          ${this.select("device_id","turns.place",t.places)} ${this.select("agent","turns.agent",t.agents)}
          ${fe.map(c=>{let u=!!i.marks?.includes(c),f=u?i.marks?.filter(p=>p!==c):[...i.marks??[],c];return l`<button aria-pressed=${u} @click=${()=>this.choose({marks:f??[]})}>
              ${this.text(`turns.${c}`)}
            </button>`})}
        </div>
        <span class="quiet figure" role="status"
          >${r===void 0?"":this.text("turns.total",{count:e.number(r)})}</span
        >
      </search>
      ${this.failureNote()}
      ${this.alert(this.unreachable.length>0&&this.text("turns.unreachable",{names:this.unreachable.join(", ")}))}
      ${r===0?l`<p class="page quiet">
              ${this.text(a?"turns.none_found":t.keeps_history?"turns.none":"turns.not_stored")}
            </p>`:d}
      <div
        class="scroller"
        tabindex="0"
        role="region"
        aria-label=${this.text("page.turns")}
        aria-busy=${r===void 0}
        @scroll=${()=>this.top=this.scroller.scrollTop}
        @keydown=${this.move}
      >
        <div class="rows" role="list" style="height: ${(r??0)*this.rowHeight}px">${this.visible()}</div>
      </div>
    `}visible(){let[t,e]=[this.firstVisible,this.lastVisible],i=Array.from({length:Math.max(0,e-t+1)},(r,o)=>t+o);return Q(i,r=>this.rows[r]?.id??r,r=>{let o=this.rows[r];return ue([o,r,this.rowHeight,this.total],()=>this.row(r,o))})}row(t,e){let i=`height: ${this.rowHeight}px; transform: translateY(${t*this.rowHeight}px)`;if(!e)return l`<div class="turn" style=${i} aria-hidden="true"></div>`;let{texts:r}=this.page,o=r.day(e.at)===r.day(Date.now()/1e3);return l`<div
      class="turn"
      role="listitem"
      style=${i}
      aria-setsize=${this.total??-1}
      aria-posinset=${t+1}
    >
      <div class="when figure">
        ${r.time(e.at)}${o?d:l`<div class="quiet small">${r.day(e.at)}</div>`}
      </div>
      <div class="who">
        <div class="line">${e.person??e.caller??this.text("turns.nobody")}</div>
        <div class="quiet small line">${e.place??e.agent}</div>
      </div>
      <div class="words">
        <a class="line" href="/chatterbox/turns/${encodeURIComponent(e.id)}" data-index=${t}
          >${e.words||this.text("turns.no_words")}</a
        >
        <div class="quiet line">${e.answer}</div>
      </div>
      <div class="row marks">${e.marks.map(a=>_t(a,r))}</div>
      <div class="seconds figure quiet">${r.duration(e.duration_ms)}</div>
    </div>`}select(t,e,i){if(i.length<2)return d;let r=this.filter[t]??"";return l`<select
      aria-label=${this.text(e)}
      @change=${o=>this.choose({[t]:N(o)})}
    >
      <option value="" ?selected=${!r}>${this.text(`${e}_any`)}</option>
      ${i.map(({id:o,name:a})=>l`<option value=${o} ?selected=${o===r}>${a}</option>`)}
    </select>`}type(t){let e=N(t).trim();this.afterTyping(Xe,()=>this.choose({words:e}))}async move(t){let e=t.key==="ArrowDown"?1:t.key==="ArrowUp"?-1:0,i=t.target.dataset.index;if(!e||i===void 0)return;t.preventDefault();let r=Number(i)+e,[o,a]=[r*this.rowHeight,(r+1)*this.rowHeight];o<this.scroller.scrollTop&&(this.scroller.scrollTop=o),a>this.scroller.scrollTop+this.height&&(this.scroller.scrollTop=a-this.height),this.top=this.scroller.scrollTop,await this.updateComplete,this.renderRoot.querySelector(`a[data-index="${r}"]`)?.focus({preventScroll:!0})}};A.styles=[_,x`
      :host {
        display: flex;
        flex-direction: column;
        overflow: hidden !important;
      }
      search {
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
      .more {
        display: none;
      }
      search > span {
        margin-inline-start: auto;
      }
      [role="alert"] {
        margin: 8px 16px;
      }
      .scroller {
        position: relative;
        flex: 1;
        min-height: 0;
        overflow-y: auto;
        container-type: inline-size;
        background: var(--card-background-color);
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
      .line,
      .mark {
        display: -webkit-box;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 1;
        overflow: hidden;
        overflow-wrap: anywhere;
      }
      .words a {
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
        gap: 4px;
        max-height: 48px;
        overflow: hidden;
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
      }
      @container (max-width: 720px) {
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
        .words,
        .marks {
          grid-column: 1 / -1;
        }
        .marks {
          max-height: 22px;
        }
        .seconds {
          grid-area: 1 / 3;
        }
      }
    `],h([m()],A.prototype,"rows",2),h([m()],A.prototype,"total",2),h([m()],A.prototype,"unreachable",2),h([m()],A.prototype,"top",2),h([m()],A.prototype,"height",2),h([m()],A.prototype,"rowHeight",2),h([m()],A.prototype,"isOpen",2),h([se(".scroller")],A.prototype,"scroller",2),A=h([y("chatterbox-turns")],A);function es(n){let s={};for(let e of Je){let i=n.get(e);i&&(s[e]=i)}let t=fe.filter(e=>n.get("marks")?.split(",").includes(e));return t.length&&(s.marks=t),s}function ss(n,s){return["language","locale","connection"].some(t=>n[t]!==s?.[t])}var P=class extends S{constructor(){super(...arguments);this.narrow=!1;this.ready=()=>{this.open()}}connectedCallback(){super.connectedCallback(),this.hasUpdated&&this.open()}disconnectedCallback(){super.disconnectedCallback(),this.hass.connection.removeEventListener("ready",this.ready)}willUpdate(t){t.has("hass")&&this.open()}async open(){let t=this;this.hass.connection.addEventListener("ready",this.ready);try{let[e,i]=await Promise.all([ft.load(this.hass),this.hass.callWS({type:"chatterbox/page"})]);this.page={get hass(){return t.hass},texts:e,info:i},this.failure=void 0}catch(e){this.failure=mt(e)}}render(){let{page:t}=this;if(!t)return this.failure?l`<p class="page" role="alert">${this.failure.message}</p>`:d;let[,e="",...i]=(this.route?.path??"").split("/"),r=e||"now";return l`
      <header>
        ${this.narrow?l`<button class="sign bare" aria-label=${t.texts.text("page.menu")} @click=${this.openMenu}>
                ☰
              </button>`:d}
        <h1>Chatterbox</h1>
        <nav aria-label="Chatterbox">
          ${this.tab("now",r)} ${this.tab("turns",r)}
          ${t.info.is_admin?this.tab("permissions",r):d}
        </nav>
      </header>
      <main>${this.view(t,r,i.join("/"))}</main>
    `}tab(t,e){return l`<a href="/chatterbox/${t}" aria-current=${t===e?"page":"false"}
      >${this.page?.texts.text(`page.${t}`)}</a
    >`}view(t,e,i){switch(e){case"turns":return i?l`<chatterbox-turn .page=${t} .path=${decodeURIComponent(i)}></chatterbox-turn>`:l`<chatterbox-turns .page=${t}></chatterbox-turns>`;case"permissions":return l`<chatterbox-permissions .page=${t}></chatterbox-permissions>`;case"evaluate":return l`<chatterbox-evaluate .page=${t}></chatterbox-evaluate>`;default:return l`<chatterbox-now .page=${t}></chatterbox-now>`}}openMenu(){this.dispatchEvent(new CustomEvent("hass-toggle-menu",{bubbles:!0,composed:!0}))}};P.styles=[_,x`
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
      .sign {
        margin-inline-start: -8px;
        font-size: 20px;
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
    `],h([w({attribute:!1,hasChanged:ss})],P.prototype,"hass",2),h([w({type:Boolean,reflect:!0})],P.prototype,"narrow",2),h([w({attribute:!1})],P.prototype,"route",2),h([m()],P.prototype,"page",2),h([m()],P.prototype,"failure",2),P=h([y("chatterbox-panel")],P);export{P as ChatterboxPanel};
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
lit-html/directives/repeat.js:
lit-html/async-directive.js:
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
