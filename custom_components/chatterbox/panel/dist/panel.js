var _e=Object.defineProperty;var Ae=Object.getOwnPropertyDescriptor;var h=(n,s,t,e)=>{for(var i=e>1?void 0:e?Ae(s,t):s,r=n.length-1,o;r>=0;r--)(o=n[r])&&(i=(e?o(s,t,i):o(i))||i);return e&&i&&_e(s,t,i),i};var dt=globalThis,ht=dt.ShadowRoot&&(dt.ShadyCSS===void 0||dt.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,Rt=Symbol(),jt=new WeakMap,et=class{constructor(s,t,e){if(this._$cssResult$=!0,e!==Rt)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=s,this.t=t}get styleSheet(){let s=this.o,t=this.t;if(ht&&s===void 0){let e=t!==void 0&&t.length===1;e&&(s=jt.get(t)),s===void 0&&((this.o=s=new CSSStyleSheet).replaceSync(this.cssText),e&&jt.set(t,s))}return s}toString(){return this.cssText}},Ft=n=>new et(typeof n=="string"?n:n+"",void 0,Rt),w=(n,...s)=>{let t=n.length===1?n[0]:s.reduce((e,i,r)=>e+(o=>{if(o._$cssResult$===!0)return o.cssText;if(typeof o=="number")return o;throw Error("Value passed to 'css' function must be a 'css' function result: "+o+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(i)+n[r+1],n[0]);return new et(t,n,Rt)},zt=(n,s)=>{if(ht)n.adoptedStyleSheets=s.map(t=>t instanceof CSSStyleSheet?t:t.styleSheet);else for(let t of s){let e=document.createElement("style"),i=dt.litNonce;i!==void 0&&e.setAttribute("nonce",i),e.textContent=t.cssText,n.appendChild(e)}},Ct=ht?n=>n:n=>n instanceof CSSStyleSheet?(s=>{let t="";for(let e of s.cssRules)t+=e.cssText;return Ft(t)})(n):n;var{is:ke,defineProperty:Te,getOwnPropertyDescriptor:Ee,getOwnPropertyNames:Se,getOwnPropertySymbols:Pe,getPrototypeOf:Re}=Object,pt=globalThis,Bt=pt.trustedTypes,Ce=Bt?Bt.emptyScript:"",Me=pt.reactiveElementPolyfillSupport,st=(n,s)=>n,it={toAttribute(n,s){switch(s){case Boolean:n=n?Ce:null;break;case Object:case Array:n=n==null?n:JSON.stringify(n)}return n},fromAttribute(n,s){let t=n;switch(s){case Boolean:t=n!==null;break;case Number:t=n===null?null:Number(n);break;case Object:case Array:try{t=JSON.parse(n)}catch{t=null}}return t}},ut=(n,s)=>!ke(n,s),Vt={attribute:!0,type:String,converter:it,reflect:!1,useDefault:!1,hasChanged:ut};Symbol.metadata??=Symbol("metadata"),pt.litPropertyMetadata??=new WeakMap;var L=class extends HTMLElement{static addInitializer(s){this._$Ei(),(this.l??=[]).push(s)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(s,t=Vt){if(t.state&&(t.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(s)&&((t=Object.create(t)).wrapped=!0),this.elementProperties.set(s,t),!t.noAccessor){let e=Symbol(),i=this.getPropertyDescriptor(s,e,t);i!==void 0&&Te(this.prototype,s,i)}}static getPropertyDescriptor(s,t,e){let{get:i,set:r}=Ee(this.prototype,s)??{get(){return this[t]},set(o){this[t]=o}};return{get:i,set(o){let l=i?.call(this);r?.call(this,o),this.requestUpdate(s,l,e)},configurable:!0,enumerable:!0}}static getPropertyOptions(s){return this.elementProperties.get(s)??Vt}static _$Ei(){if(this.hasOwnProperty(st("elementProperties")))return;let s=Re(this);s.finalize(),s.l!==void 0&&(this.l=[...s.l]),this.elementProperties=new Map(s.elementProperties)}static finalize(){if(this.hasOwnProperty(st("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(st("properties"))){let t=this.properties,e=[...Se(t),...Pe(t)];for(let i of e)this.createProperty(i,t[i])}let s=this[Symbol.metadata];if(s!==null){let t=litPropertyMetadata.get(s);if(t!==void 0)for(let[e,i]of t)this.elementProperties.set(e,i)}this._$Eh=new Map;for(let[t,e]of this.elementProperties){let i=this._$Eu(t,e);i!==void 0&&this._$Eh.set(i,t)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(s){let t=[];if(Array.isArray(s)){let e=new Set(s.flat(1/0).reverse());for(let i of e)t.unshift(Ct(i))}else s!==void 0&&t.push(Ct(s));return t}static _$Eu(s,t){let e=t.attribute;return e===!1?void 0:typeof e=="string"?e:typeof s=="string"?s.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(s=>this.enableUpdating=s),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(s=>s(this))}addController(s){(this._$EO??=new Set).add(s),this.renderRoot!==void 0&&this.isConnected&&s.hostConnected?.()}removeController(s){this._$EO?.delete(s)}_$E_(){let s=new Map,t=this.constructor.elementProperties;for(let e of t.keys())this.hasOwnProperty(e)&&(s.set(e,this[e]),delete this[e]);s.size>0&&(this._$Ep=s)}createRenderRoot(){let s=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return zt(s,this.constructor.elementStyles),s}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(s=>s.hostConnected?.())}enableUpdating(s){}disconnectedCallback(){this._$EO?.forEach(s=>s.hostDisconnected?.())}attributeChangedCallback(s,t,e){this._$AK(s,e)}_$ET(s,t){let e=this.constructor.elementProperties.get(s),i=this.constructor._$Eu(s,e);if(i!==void 0&&e.reflect===!0){let r=(e.converter?.toAttribute!==void 0?e.converter:it).toAttribute(t,e.type);this._$Em=s,r==null?this.removeAttribute(i):this.setAttribute(i,r),this._$Em=null}}_$AK(s,t){let e=this.constructor,i=e._$Eh.get(s);if(i!==void 0&&this._$Em!==i){let r=e.getPropertyOptions(i),o=typeof r.converter=="function"?{fromAttribute:r.converter}:r.converter?.fromAttribute!==void 0?r.converter:it;this._$Em=i;let l=o.fromAttribute(t,r.type);this[i]=l??this._$Ej?.get(i)??l,this._$Em=null}}requestUpdate(s,t,e,i=!1,r){if(s!==void 0){let o=this.constructor;if(i===!1&&(r=this[s]),e??=o.getPropertyOptions(s),!((e.hasChanged??ut)(r,t)||e.useDefault&&e.reflect&&r===this._$Ej?.get(s)&&!this.hasAttribute(o._$Eu(s,e))))return;this.C(s,t,e)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(s,t,{useDefault:e,reflect:i,wrapped:r},o){e&&!(this._$Ej??=new Map).has(s)&&(this._$Ej.set(s,o??t??this[s]),r!==!0||o!==void 0)||(this._$AL.has(s)||(this.hasUpdated||e||(t=void 0),this._$AL.set(s,t)),i===!0&&this._$Em!==s&&(this._$Eq??=new Set).add(s))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(t){Promise.reject(t)}let s=this.scheduleUpdate();return s!=null&&await s,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[i,r]of this._$Ep)this[i]=r;this._$Ep=void 0}let e=this.constructor.elementProperties;if(e.size>0)for(let[i,r]of e){let{wrapped:o}=r,l=this[i];o!==!0||this._$AL.has(i)||l===void 0||this.C(i,void 0,r,l)}}let s=!1,t=this._$AL;try{s=this.shouldUpdate(t),s?(this.willUpdate(t),this._$EO?.forEach(e=>e.hostUpdate?.()),this.update(t)):this._$EM()}catch(e){throw s=!1,this._$EM(),e}s&&this._$AE(t)}willUpdate(s){}_$AE(s){this._$EO?.forEach(t=>t.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(s)),this.updated(s)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(s){return!0}update(s){this._$Eq&&=this._$Eq.forEach(t=>this._$ET(t,this[t])),this._$EM()}updated(s){}firstUpdated(s){}};L.elementStyles=[],L.shadowRootOptions={mode:"open"},L[st("elementProperties")]=new Map,L[st("finalized")]=new Map,Me?.({ReactiveElement:L}),(pt.reactiveElementVersions??=[]).push("2.1.2");var Lt=globalThis,Wt=n=>n,mt=Lt.trustedTypes,Gt=mt?mt.createPolicy("lit-html",{createHTML:n=>n}):void 0,Ht="$lit$",H=`lit$${Math.random().toFixed(9).slice(2)}$`,Ot="?"+H,Le=`<${Ot}>`,B=document,nt=()=>B.createComment(""),ot=n=>n===null||typeof n!="object"&&typeof n!="function",Nt=Array.isArray,Xt=n=>Nt(n)||typeof n?.[Symbol.iterator]=="function",Mt=`[ 	
\f\r]`,rt=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,Zt=/-->/g,Kt=/>/g,F=RegExp(`>|${Mt}(?:([^\\s"'>=/]+)(${Mt}*=${Mt}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),Qt=/'/g,Jt=/"/g,te=/^(?:script|style|textarea|title)$/i,Dt=n=>(s,...t)=>({_$litType$:n,strings:s,values:t}),a=Dt(1),lt=Dt(2),fs=Dt(3),T=Symbol.for("lit-noChange"),d=Symbol.for("lit-nothing"),Yt=new WeakMap,z=B.createTreeWalker(B,129);function ee(n,s){if(!Nt(n)||!n.hasOwnProperty("raw"))throw Error("invalid template strings array");return Gt!==void 0?Gt.createHTML(s):s}var se=(n,s)=>{let t=n.length-1,e=[],i,r=s===2?"<svg>":s===3?"<math>":"",o=rt;for(let l=0;l<t;l++){let c=n[l],p,g,u=-1,$=0;for(;$<c.length&&(o.lastIndex=$,g=o.exec(c),g!==null);)$=o.lastIndex,o===rt?g[1]==="!--"?o=Zt:g[1]!==void 0?o=Kt:g[2]!==void 0?(te.test(g[2])&&(i=RegExp("</"+g[2],"g")),o=F):g[3]!==void 0&&(o=F):o===F?g[0]===">"?(o=i??rt,u=-1):g[1]===void 0?u=-2:(u=o.lastIndex-g[2].length,p=g[1],o=g[3]===void 0?F:g[3]==='"'?Jt:Qt):o===Jt||o===Qt?o=F:o===Zt||o===Kt?o=rt:(o=F,i=void 0);let f=o===F&&n[l+1].startsWith("/>")?" ":"";r+=o===rt?c+Le:u>=0?(e.push(p),c.slice(0,u)+Ht+c.slice(u)+H+f):c+H+(u===-2?l:f)}return[ee(n,r+(n[t]||"<?>")+(s===2?"</svg>":s===3?"</math>":"")),e]},at=class n{constructor({strings:s,_$litType$:t},e){let i;this.parts=[];let r=0,o=0,l=s.length-1,c=this.parts,[p,g]=se(s,t);if(this.el=n.createElement(p,e),z.currentNode=this.el.content,t===2||t===3){let u=this.el.content.firstChild;u.replaceWith(...u.childNodes)}for(;(i=z.nextNode())!==null&&c.length<l;){if(i.nodeType===1){if(i.hasAttributes())for(let u of i.getAttributeNames())if(u.endsWith(Ht)){let $=g[o++],f=i.getAttribute(u).split(H),v=/([.?@])?(.*)/.exec($);c.push({type:1,index:r,name:v[2],strings:f,ctor:v[1]==="."?ft:v[1]==="?"?vt:v[1]==="@"?$t:W}),i.removeAttribute(u)}else u.startsWith(H)&&(c.push({type:6,index:r}),i.removeAttribute(u));if(te.test(i.tagName)){let u=i.textContent.split(H),$=u.length-1;if($>0){i.textContent=mt?mt.emptyScript:"";for(let f=0;f<$;f++)i.append(u[f],nt()),z.nextNode(),c.push({type:2,index:++r});i.append(u[$],nt())}}}else if(i.nodeType===8)if(i.data===Ot)c.push({type:2,index:r});else{let u=-1;for(;(u=i.data.indexOf(H,u+1))!==-1;)c.push({type:7,index:r}),u+=H.length-1}r++}}static createElement(s,t){let e=B.createElement("template");return e.innerHTML=s,e}};function V(n,s,t=n,e){if(s===T)return s;let i=e!==void 0?t._$Co?.[e]:t._$Cl,r=ot(s)?void 0:s._$litDirective$;return i?.constructor!==r&&(i?._$AO?.(!1),r===void 0?i=void 0:(i=new r(n),i._$AT(n,t,e)),e!==void 0?(t._$Co??=[])[e]=i:t._$Cl=i),i!==void 0&&(s=V(n,i._$AS(n,s.values),i,e)),s}var gt=class{constructor(s,t){this._$AV=[],this._$AN=void 0,this._$AD=s,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(s){let{el:{content:t},parts:e}=this._$AD,i=(s?.creationScope??B).importNode(t,!0);z.currentNode=i;let r=z.nextNode(),o=0,l=0,c=e[0];for(;c!==void 0;){if(o===c.index){let p;c.type===2?p=new Y(r,r.nextSibling,this,s):c.type===1?p=new c.ctor(r,c.name,c.strings,this,s):c.type===6&&(p=new bt(r,this,s)),this._$AV.push(p),c=e[++l]}o!==c?.index&&(r=z.nextNode(),o++)}return z.currentNode=B,i}p(s){let t=0;for(let e of this._$AV)e!==void 0&&(e.strings!==void 0?(e._$AI(s,e,t),t+=e.strings.length-2):e._$AI(s[t])),t++}},Y=class n{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(s,t,e,i){this.type=2,this._$AH=d,this._$AN=void 0,this._$AA=s,this._$AB=t,this._$AM=e,this.options=i,this._$Cv=i?.isConnected??!0}get parentNode(){let s=this._$AA.parentNode,t=this._$AM;return t!==void 0&&s?.nodeType===11&&(s=t.parentNode),s}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(s,t=this){s=V(this,s,t),ot(s)?s===d||s==null||s===""?(this._$AH!==d&&this._$AR(),this._$AH=d):s!==this._$AH&&s!==T&&this._(s):s._$litType$!==void 0?this.$(s):s.nodeType!==void 0?this.T(s):Xt(s)?this.k(s):this._(s)}O(s){return this._$AA.parentNode.insertBefore(s,this._$AB)}T(s){this._$AH!==s&&(this._$AR(),this._$AH=this.O(s))}_(s){this._$AH!==d&&ot(this._$AH)?this._$AA.nextSibling.data=s:this.T(B.createTextNode(s)),this._$AH=s}$(s){let{values:t,_$litType$:e}=s,i=typeof e=="number"?this._$AC(s):(e.el===void 0&&(e.el=at.createElement(ee(e.h,e.h[0]),this.options)),e);if(this._$AH?._$AD===i)this._$AH.p(t);else{let r=new gt(i,this),o=r.u(this.options);r.p(t),this.T(o),this._$AH=r}}_$AC(s){let t=Yt.get(s.strings);return t===void 0&&Yt.set(s.strings,t=new at(s)),t}k(s){Nt(this._$AH)||(this._$AH=[],this._$AR());let t=this._$AH,e,i=0;for(let r of s)i===t.length?t.push(e=new n(this.O(nt()),this.O(nt()),this,this.options)):e=t[i],e._$AI(r),i++;i<t.length&&(this._$AR(e&&e._$AB.nextSibling,i),t.length=i)}_$AR(s=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);s!==this._$AB;){let e=Wt(s).nextSibling;Wt(s).remove(),s=e}}setConnected(s){this._$AM===void 0&&(this._$Cv=s,this._$AP?.(s))}},W=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(s,t,e,i,r){this.type=1,this._$AH=d,this._$AN=void 0,this.element=s,this.name=t,this._$AM=i,this.options=r,e.length>2||e[0]!==""||e[1]!==""?(this._$AH=Array(e.length-1).fill(new String),this.strings=e):this._$AH=d}_$AI(s,t=this,e,i){let r=this.strings,o=!1;if(r===void 0)s=V(this,s,t,0),o=!ot(s)||s!==this._$AH&&s!==T,o&&(this._$AH=s);else{let l=s,c,p;for(s=r[0],c=0;c<r.length-1;c++)p=V(this,l[e+c],t,c),p===T&&(p=this._$AH[c]),o||=!ot(p)||p!==this._$AH[c],p===d?s=d:s!==d&&(s+=(p??"")+r[c+1]),this._$AH[c]=p}o&&!i&&this.j(s)}j(s){s===d?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,s??"")}},ft=class extends W{constructor(){super(...arguments),this.type=3}j(s){this.element[this.name]=s===d?void 0:s}},vt=class extends W{constructor(){super(...arguments),this.type=4}j(s){this.element.toggleAttribute(this.name,!!s&&s!==d)}},$t=class extends W{constructor(s,t,e,i,r){super(s,t,e,i,r),this.type=5}_$AI(s,t=this){if((s=V(this,s,t,0)??d)===T)return;let e=this._$AH,i=s===d&&e!==d||s.capture!==e.capture||s.once!==e.once||s.passive!==e.passive,r=s!==d&&(e===d||i);i&&this.element.removeEventListener(this.name,this,e),r&&this.element.addEventListener(this.name,this,s),this._$AH=s}handleEvent(s){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,s):this._$AH.handleEvent(s)}},bt=class{constructor(s,t,e){this.element=s,this.type=6,this._$AN=void 0,this._$AM=t,this.options=e}get _$AU(){return this._$AM._$AU}_$AI(s){V(this,s)}},ie={M:Ht,P:H,A:Ot,C:1,L:se,R:gt,D:Xt,V,I:Y,H:W,N:vt,U:$t,B:ft,F:bt},He=Lt.litHtmlPolyfillSupport;He?.(at,Y),(Lt.litHtmlVersions??=[]).push("3.3.3");var re=(n,s,t)=>{let e=t?.renderBefore??s,i=e._$litPart$;if(i===void 0){let r=t?.renderBefore??null;e._$litPart$=i=new Y(s.insertBefore(nt(),r),r,void 0,t??{})}return i._$AI(n),i};var It=globalThis,S=class extends L{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let s=super.createRenderRoot();return this.renderOptions.renderBefore??=s.firstChild,s}update(s){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(s),this._$Do=re(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return T}};S._$litElement$=!0,S.finalized=!0,It.litElementHydrateSupport?.({LitElement:S});var Oe=It.litElementPolyfillSupport;Oe?.({LitElement:S});(It.litElementVersions??=[]).push("4.2.2");var x=n=>(s,t)=>{t!==void 0?t.addInitializer(()=>{customElements.define(n,s)}):customElements.define(n,s)};var Ne={attribute:!0,type:String,converter:it,reflect:!1,hasChanged:ut},De=(n=Ne,s,t)=>{let{kind:e,metadata:i}=t,r=globalThis.litPropertyMetadata.get(i);if(r===void 0&&globalThis.litPropertyMetadata.set(i,r=new Map),e==="setter"&&((n=Object.create(n)).wrapped=!0),r.set(t.name,n),e==="accessor"){let{name:o}=t;return{set(l){let c=s.get.call(this);s.set.call(this,l),this.requestUpdate(o,c,n,!0,l)},init(l){return l!==void 0&&this.C(o,void 0,n,l),l}}}if(e==="setter"){let{name:o}=t;return function(l){let c=this[o];s.call(this,l),this.requestUpdate(o,c,n,!0,l)}}throw Error("Unsupported decorator location: "+e)};function _(n){return(s,t)=>typeof t=="object"?De(n,s,t):((e,i,r)=>{let o=i.hasOwnProperty(r);return i.constructor.createProperty(r,e),o?Object.getOwnPropertyDescriptor(i,r):void 0})(n,s,t)}function m(n){return _({...n,state:!0,attribute:!1})}var G=(n,s,t)=>(t.configurable=!0,t.enumerable=!0,Reflect.decorate&&typeof s!="object"&&Object.defineProperty(n,s,t),t);function ne(n,s){return(t,e,i)=>{let r=o=>o.renderRoot?.querySelector(n)??null;if(s){let{get:o,set:l}=typeof e=="object"?t:i??(()=>{let c=Symbol();return{get(){return this[c]},set(p){this[c]=p}}})();return G(t,e,{get(){let c=o.call(this);return c===void 0&&(c=r(this),(c!==null||this.hasUpdated)&&l.call(this,c)),c}})}return G(t,e,{get(){return r(this)}})}}function xt(n){return typeof n=="object"&&n!==null&&"code"in n&&"message"in n?n:{code:"unknown",message:String(n)}}function O(n,s=!1){s?history.replaceState(history.state,"",n):history.pushState(null,"",n),dispatchEvent(new CustomEvent("location-changed",{detail:{replace:s}}))}var Ie={menu:"M3,6H21V8H3V6M3,11H21V13H3V11M3,16H21V18H3V16Z",back:"M20,11V13H8L13.5,18.5L12.08,19.92L4.16,12L12.08,4.08L13.5,5.5L8,11H20Z",help:"M11,18H13V16H11V18M12,2A10,10 0 0,0 2,12A10,10 0 0,0 12,22A10,10 0 0,0 22,12A10,10 0 0,0 12,2M12,20C7.59,20 4,16.41 4,12C4,7.59 7.59,4 12,4C16.41,4 20,7.59 20,12C20,16.41 16.41,20 12,20M12,6A4,4 0 0,0 8,10H10A2,2 0 0,1 12,8A2,2 0 0,1 14,10C14,12 11,11.75 11,15H13C13,12.75 16,12.5 16,10A4,4 0 0,0 12,6Z",close:"M19,6.41L17.59,5L12,10.59L6.41,5L5,6.41L10.59,12L5,17.59L6.41,19L12,13.41L17.59,19L19,17.59L13.41,12L19,6.41Z",up:"M13,20H11V8L5.5,13.5L4.08,12.08L12,4.16L19.92,12.08L18.5,13.5L13,8V20Z",down:"M11,4H13V16L18.5,10.5L19.92,11.92L12,19.84L4.08,11.92L5.5,10.5L11,16V4Z",edit:"M20.71,7.04C21.1,6.65 21.1,6 20.71,5.63L18.37,3.29C18,2.9 17.35,2.9 16.96,3.29L15.12,5.12L18.87,8.87M3,17.25V21H6.75L17.81,9.93L14.06,6.18L3,17.25Z",delete:"M19,4H15.5L14.5,3H9.5L8.5,4H5V6H19M6,19A2,2 0 0,0 8,21H16A2,2 0 0,0 18,19V7H6V19Z",now:"M12,20A8,8 0 0,0 20,12A8,8 0 0,0 12,4A8,8 0 0,0 4,12A8,8 0 0,0 12,20M12,2A10,10 0 0,1 22,12A10,10 0 0,1 12,22C6.47,22 2,17.5 2,12A10,10 0 0,1 12,2M12.5,7V12.25L17,14.92L16.25,16.15L11,13V7H12.5Z",turns:"M15,4V11H5.17L4,12.17V4H15M16,2H3A1,1 0 0,0 2,3V17L6,13H16A1,1 0 0,0 17,12V3A1,1 0 0,0 16,2M21,6H19V15H6V17A1,1 0 0,0 7,18H18L22,22V7A1,1 0 0,0 21,6Z",permissions:"M21,11C21,16.55 17.16,21.74 12,23C6.84,21.74 3,16.55 3,11V5L12,1L21,5V11M12,21C15.75,20 19,15.54 19,11.22V6.3L12,3.18L5,6.3V11.22C5,15.54 8.25,20 12,21M10,17L6,13L7.41,11.59L10,14.17L16.59,7.58L18,9"};function N(n){return a`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${lt`<path d=${Ie[n]}></path>`}</svg>`}var A=w`
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
    accent-color: color-mix(in srgb, var(--primary-color) 70%, black);
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
  select,
  .tabs a {
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
  .tabs a {
    border-radius: var(--ha-border-radius-pill, 9999px);
    padding: 0 16px;
    font-weight: 500;
  }
  button,
  select {
    cursor: pointer;
  }
  button:hover {
    background: var(--secondary-background-color);
  }
  button[aria-pressed="true"],
  .tabs a[aria-current="page"] {
    border-color: var(--primary-color);
    box-shadow: inset 0 0 0 1px var(--primary-color);
  }
  button.main {
    color: white;
    background: color-mix(in srgb, var(--primary-color) 70%, black);
    border-color: transparent;
  }
  button.main.bad {
    background: color-mix(in srgb, var(--error-color) 75%, black);
  }
  .error {
    color: color-mix(in srgb, var(--error-color) 75%, var(--primary-text-color));
  }
  .icon {
    width: 24px;
    height: 24px;
    vertical-align: middle;
    fill: currentColor;
  }
  .tabs a {
    display: flex;
    align-items: center;
    text-decoration: none;
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
    background: var(--ha-dialog-surface-background, var(--card-background-color));
    border: none;
    border-radius: var(--ha-dialog-border-radius, 24px);
    box-shadow: 0 16px 32px -6px rgb(0 0 0 / 20%);
    margin: auto;
    padding: 12px 24px 16px;
    width: min(580px, calc(100vw - 32px));
  }
  dialog::backdrop {
    background: rgb(0 0 0 / 32%);
  }
  dialog form {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 16px;
  }
  dialog .title {
    flex-wrap: nowrap;
    margin-inline-start: -12px;
  }
  dialog .buttons {
    justify-content: flex-end;
  }
  dialog :is(input:not([type="checkbox"]), select) {
    min-height: 48px;
    border: none;
    border-bottom: 1px solid var(--ha-color-border-neutral-loud, var(--secondary-text-color));
    border-radius: 4px 4px 0 0;
    background: var(--ha-color-form-background, var(--secondary-background-color));
  }
  @media (max-width: 450px) {
    dialog:has(label) {
      width: 100vw;
      max-width: none;
      height: 100dvh;
      max-height: none;
      border-radius: 0;
    }
  }
  .hidden {
    position: absolute;
    clip-path: inset(50%);
  }
`;var qe=["config_panel","exceptions"];var qt={style:"currency",currency:"USD"},Ue="component.chatterbox.",yt=class n{constructor(s,t){this.texts=t;let{time_format:e,time_zone:i}=s.locale;this.language=s.language,this.zone=i==="server"?{timeZone:s.config.time_zone}:{};let r=e==="12"||e==="24"?{hour12:e==="12"}:{},o={...this.zone,...r,hour:"numeric",minute:"2-digit"},l={...this.zone,weekday:"short",day:"numeric",month:"short"};this.clock=new Intl.DateTimeFormat(this.language,o),this.days=new Intl.DateTimeFormat(this.language,l),this.dayAndClock=new Intl.DateTimeFormat(this.language,{...l,...o})}static async load(s){let t=qe.map(e=>s.callWS({type:"frontend/get_translations",language:s.language,category:e,integration:["chatterbox"]}));return new n(s,Object.assign({},...(await Promise.all(t)).map(({resources:e})=>e)))}text(s,t={}){return this.filled(`config_panel.${s}`,t)??s}choice(s,t,e=t){return this.filled(`config_panel.${s}.${t}`)??e}reason(s,t={}){return this.filled(`exceptions.${s}.message`,t)}failure(s){let{code:t,message:e,translation_key:i,translation_placeholders:r}=s;return(i?this.reason(i,r):void 0)??this.filled(`config_panel.error.${t}`,r)??e}filled(s,t={}){return this.texts[Ue+s]?.replace(/\{(\w+)\}/g,(e,i)=>String(t[i]??e))}number(s,t){return new Intl.NumberFormat(this.language,t).format(s)}duration(s){if(s===null)return"–";let[t,e,i]=s<100?[s,"ms",0]:s<1e5?[s/1e3,"s",s<1e4?1:0]:[s/6e4,"min",0];return`${this.number(t,{minimumFractionDigits:i,maximumFractionDigits:i})} ${this.text(`unit.${e}`)}`}countdown(s){return`${Math.floor(s/60)}:${String(s%60).padStart(2,"0")}`}money(s){if(s===null)return"–";let t=s===0||s>=1?2:s>=.01?3:5;return this.number(s,{...qt,minimumFractionDigits:2,maximumFractionDigits:t})}sum(s){return s===null?"–":s>0&&s<.01?`< ${this.number(.01,qt)}`:this.number(s,qt)}time(s){return this.clock.format(s*1e3)}day(s){return this.days.format(s*1e3)}fullMoment(s){return this.dayAndClock.format(s*1e3)}moment(s){return this.day(s)===this.day(Date.now()/1e3)?this.time(s):this.fullMoment(s)}fieldOf(s){return new Intl.DateTimeFormat("sv",{...this.zone,dateStyle:"short",timeStyle:"short"}).format(s*1e3).replace(" ","T")}ofField(s){let t=Date.parse(`${s}Z`)/1e3,e=i=>Date.parse(`${this.fieldOf(i)}Z`)/1e3-Math.floor(i/60)*60;return t-e(t-e(t))}};var wt={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},Z=n=>(...s)=>({_$litDirective$:n,values:s}),D=class{constructor(s){}get _$AU(){return this._$AM._$AU}_$AT(s,t,e){this._$Ct=s,this._$AM=t,this._$Ci=e}_$AS(s,t){return this.update(s,t)}update(s,t){return this.render(...t)}};var{I:je}=ie,oe=n=>n;var le=n=>n.strings===void 0,ae=()=>document.createComment(""),X=(n,s,t)=>{let e=n._$AA.parentNode,i=s===void 0?n._$AB:s._$AA;if(t===void 0){let r=e.insertBefore(ae(),i),o=e.insertBefore(ae(),i);t=new je(r,o,n,n.options)}else{let r=t._$AB.nextSibling,o=t._$AM,l=o!==n;if(l){let c;t._$AQ?.(n),t._$AM=n,t._$AP!==void 0&&(c=n._$AU)!==o._$AU&&t._$AP(c)}if(r!==i||l){let c=t._$AA;for(;c!==r;){let p=oe(c).nextSibling;oe(e).insertBefore(c,i),c=p}}}return t},I=(n,s,t=n)=>(n._$AI(s,t),n),Fe={},ce=(n,s=Fe)=>n._$AH=s,de=n=>n._$AH,_t=n=>{n._$AR(),n._$AA.remove()};var he=(n,s,t)=>{let e=new Map;for(let i=s;i<=t;i++)e.set(n[i],i);return e},K=Z(class extends D{constructor(n){if(super(n),n.type!==wt.CHILD)throw Error("repeat() can only be used in text expressions")}dt(n,s,t){let e;t===void 0?t=s:s!==void 0&&(e=s);let i=[],r=[],o=0;for(let l of n)i[o]=e?e(l,o):o,r[o]=t(l,o),o++;return{values:r,keys:i}}render(n,s,t){return this.dt(n,s,t).values}update(n,[s,t,e]){let i=de(n),{values:r,keys:o}=this.dt(s,t,e);if(!Array.isArray(i))return this.ut=o,r;let l=this.ut??=[],c=[],p,g,u=0,$=i.length-1,f=0,v=r.length-1;for(;u<=$&&f<=v;)if(i[u]===null)u++;else if(i[$]===null)$--;else if(l[u]===o[f])c[f]=I(i[u],r[f]),u++,f++;else if(l[$]===o[v])c[v]=I(i[$],r[v]),$--,v--;else if(l[u]===o[v])c[v]=I(i[u],r[v]),X(n,c[v+1],i[u]),u++,v--;else if(l[$]===o[f])c[f]=I(i[$],r[f]),X(n,i[u],i[$]),$--,f++;else if(p===void 0&&(p=he(o,f,v),g=he(l,u,$)),p.has(l[u]))if(p.has(l[$])){let y=g.get(o[f]),M=y!==void 0?i[y]:null;if(M===null){let J=X(n,i[u]);I(J,r[f]),c[f]=J}else c[f]=I(M,r[f]),X(n,i[u],M),i[y]=null;f++}else _t(i[$]),$--;else _t(i[u]),u++;for(;f<=v;){let y=X(n,c[v+1]);I(y,r[f]),c[f++]=y}for(;u<=$;){let y=i[u++];y!==null&&_t(y)}return this.ut=o,ce(n,c),T}});var ct=(n,s)=>{let t=n._$AN;if(t===void 0)return!1;for(let e of t)e._$AO?.(s,!1),ct(e,s);return!0},At=n=>{let s,t;do{if((s=n._$AM)===void 0)break;t=s._$AN,t.delete(n),n=s}while(t?.size===0)},pe=n=>{for(let s;s=n._$AM;n=s){let t=s._$AN;if(t===void 0)s._$AN=t=new Set;else if(t.has(n))break;t.add(n),Ve(s)}};function ze(n){this._$AN!==void 0?(At(this),this._$AM=n,pe(this)):this._$AM=n}function Be(n,s=!1,t=0){let e=this._$AH,i=this._$AN;if(i!==void 0&&i.size!==0)if(s)if(Array.isArray(e))for(let r=t;r<e.length;r++)ct(e[r],!1),At(e[r]);else e!=null&&(ct(e,!1),At(e));else ct(this,n)}var Ve=n=>{n.type==wt.CHILD&&(n._$AP??=Be,n._$AQ??=ze)},kt=class extends D{constructor(){super(...arguments),this._$AN=void 0}_$AT(s,t,e){super._$AT(s,t,e),pe(this),this.isConnected=s._$AU}_$AO(s,t=!0){s!==this.isConnected&&(this.isConnected=s,s?this.reconnected?.():this.disconnected?.()),t&&(ct(this,s),At(this))}setValue(s){if(le(this._$Ct))this._$Ct._$AI(s,this);else{let t=[...this._$Ct._$AH];t[this._$Ci]=s,this._$Ct._$AI(t,this,0)}}disconnected(){}reconnected(){}};var Ut=new WeakMap,Tt=Z(class extends kt{render(n){return d}update(n,[s]){let t=s!==this.G;return t&&this.rt(void 0),(t||this.lt!==this.ct)&&(this.G=s,this.ht=n.options?.host,this.rt(this.ct=n.element)),d}rt(n){if(this.G!==void 0)if(this.isConnected||(n=void 0),typeof this.G=="function"){let s=this.ht??globalThis,t=Ut.get(s);t===void 0&&(t=new WeakMap,Ut.set(s,t)),t.get(this.G)!==void 0&&this.G.call(this.ht,void 0),t.set(this.G,n),n!==void 0&&this.G.call(this.ht,n)}else this.G.value=n}get lt(){return typeof this.G=="function"?Ut.get(this.ht??globalThis)?.get(this.G):this.G?.value}disconnected(){this.lt===this.ct&&this.rt(void 0)}reconnected(){this.rt(this.ct)}});var b=class extends S{constructor(){super(...arguments);this.path="";this.failedField="";this.unsubscribe=[]}static{this.styles=A}disconnectedCallback(){super.disconnectedCallback(),this.stop(),clearTimeout(this.typing)}updated(t){(t.has("page")||t.has("path"))&&this.start()}async load(){}async start(){this.stop(),await this.attempt(()=>this.load())}async attempt(t,e=""){try{let i=await t();return this.failure=void 0,i}catch(i){[this.failure,this.failedField]=[xt(i),e];return}}async call(t,e={}){return this.page.hass.callWS({type:`chatterbox/${t}`,...e})}async subscribe(t,e,i={}){let r=await this.page.hass.connection.subscribeMessage(l=>{this.isConnected&&e(l)},{type:`chatterbox/${t}`,...i}),o=()=>{r().catch(()=>{})};this.isConnected?this.unsubscribe.push(o):o()}stop(){for(let t of this.unsubscribe.splice(0))t()}afterTyping(t,e){clearTimeout(this.typing),this.typing=setTimeout(e,t)}text(t,e={}){return this.page.texts.text(t,e)}failureNote(){return!this.failure||this.failedField?d:a`<div class="card row spread" role="alert">
      <span>${this.page.texts.failure(this.failure)}</span>
      <button @click=${()=>{this.start()}}>${this.text("page.retry")}</button>
    </div>`}fieldError(t,e=""){let i=this.failedField===t&&this.failure?this.page.texts.failure(this.failure):"";return e||i?a`<span class="error small" role="alert">${e||i}</span>`:d}iconButton(t,e,i,r=!1,o=""){return a`<button
      type="button"
      class="sign bare"
      title=${e}
      aria-label=${o?`${e}: ${o}`:e}
      ?disabled=${r}
      @click=${i}
    >
      ${N(t)}
    </button>`}alert(t){return t?a`<p class="card" role="alert">${t}</p>`:d}cards(t,e,i){return a`<ul class="cards">
      ${K(t,({id:o},l)=>o??l,o=>a`<li class="card ${e}">${i(o)}</li>`)}
    </ul>`}figure(t,e){return a`<div>
      <dt class="quiet small">${t}</dt>
      <dd class="figure">${e}</dd>
    </div>`}dialog(t,e,i,r,o){return a`<dialog ${Tt(We)} aria-labelledby="title" @close=${r}>
      <form method="dialog" @submit=${o}>
        <div class="row title">
          <button value="" class="sign bare" formnovalidate aria-label=${this.text("page.close")}>
            ${N("close")}
          </button>
          <h2 id="title" class="wide">${t}</h2>
        </div>
        ${e}
        <div class="row buttons">
          <button value="" class="bare" formnovalidate>${this.text("page.back")}</button>
          ${i}
        </div>
      </form>
    </dialog>`}async confirm(t,e){return new Promise(i=>{this.confirmation=this.dialog(t,d,a`<button value="yes" class="main bad">${e}</button>`,r=>{this.confirmation=void 0,i(r.target.returnValue==="yes")})})}};h([_({attribute:!1})],b.prototype,"page",2),h([_()],b.prototype,"path",2),h([m()],b.prototype,"confirmation",2),h([m()],b.prototype,"failure",2),h([m()],b.prototype,"failedField",2);function Et(n,s){let t=(e,i)=>a`<a href="/chatterbox/permissions${e&&`/${e}`}" aria-current=${e===s?"page":"false"}
      >${n.texts.text(i)}</a
    >`;return a`<nav class="row tabs" aria-label=${n.texts.text("page.permissions")}>
    ${t("","permissions.devices")} ${t("rules","permissions.rules")} ${t("try","permissions.try")}
  </nav>`}function q(n){return n.target.value}function We(n){n instanceof HTMLDialogElement&&queueMicrotask(()=>n.isConnected&&n.showModal())}var Ge=["right","wrong","harmful","claimed","failed"],U=class extends b{async load(){await this.subscribe("evaluate/subscribe",async s=>{let t=this.trials&&this.trials.results[0]?.id!==s.results[0]?.id;this.trials=s,await this.updateComplete,t&&this.renderRoot.querySelector(".verdict")?.scrollIntoView({block:"nearest"})}),await this.look()}order(s){let t=[...new FormData(s)].filter(([i])=>i!=="agent_id"),e=Object.fromEntries(t.map(([i,r])=>[i,Number(r)]));return{language:this.page.texts.language,...e}}async look(s){this.preview=await this.call("evaluate/preview",this.order(s))}render(){let{trials:s}=this;return a`<div class="page" aria-busy=${!s}>
      ${this.failureNote()}
      <section aria-labelledby="evaluate">
        <h2 id="evaluate">${this.text("evaluate.title")}</h2>
        <p>${this.text("evaluate.note")}</p>
        ${s?.running?this.progress(s.running):d} ${this.startForm(!!s?.running)}
      </section>
      ${this.alert(!!s?.unreadable.includes("evaluations")&&this.text("error.missing"))}
      ${s?.results.map(t=>this.table(t))}
    </div>`}progress({done:s,total:t,cost:e}){return a`<div class="row">
      <progress class="wide" aria-label=${this.text("evaluate.title")} max=${t} value=${s}></progress>
      <span class="figure" role="status">${s} / ${t} · ${this.page.texts.money(e)}</span>
      <button @click=${()=>{this.attempt(()=>this.call("evaluate/stop"))}}>${this.text("evaluate.stop")}</button>
    </div>`}startForm(s){let{preview:t}=this;if(!t)return d;let e=t.requests*(this.chosen??t.agents.length);return a`<form class="cards" @change=${this.change} @submit=${this.begin}>
      <div class="card">
        ${t.agents.map(({agent_id:i,name:r,service:o,cost:l,has_price:c})=>a`<label class="check">
              <input type="checkbox" name="agent_id" value=${i} checked />
              <span>${r}</span>
              <span class="quiet">
                ${o?this.text("evaluate.service",{service:o}):d}
                ${c?d:this.text("evaluate.no_price")}
                ${l===null?d:this.text("evaluate.price",{price:this.page.texts.money(l)})}
              </span>
            </label>`)}
      </div>
      <div class="row">
        ${this.bound("requests",1,40)} ${this.bound("max_price",.01,.5)}
        <button class="main" ?disabled=${s||!e}>${this.text("evaluate.start",{requests:e})}</button>
      </div>
    </form>`}bound(s,t,e){return a`<label
      >${this.text(`evaluate.${s}`)}<input
        name=${s}
        type="number"
        min=${t}
        max="100"
        step=${t}
        value=${e}
        required
    /></label>`}change(s){let t=s.currentTarget;this.chosen=new FormData(t).getAll("agent_id").length,t.reportValidity()&&this.attempt(()=>this.look(t))}begin(s){s.preventDefault();let t=s.target,e={...this.order(t),agent_id:new FormData(t).getAll("agent_id")};this.attempt(()=>this.call("evaluate/start",e))}table(s){let{texts:t}=this.page,e=t.choice("trial_end",s.end,"");return a`<section>
      <h2>${t.moment(s.began_at)}</h2>
      ${e?a`<p>${e}</p>`:d} ${this.verdict(s.agents)}
      ${this.cards(s.agents,"",i=>a`<h3>${i.name}</h3>
            <dl>
              ${Ge.map(r=>this.figure(this.text(`grade.${r}`),t.number(i[r])))}
              ${i.asked===void 0?d:this.figure(this.text("evaluate.asked"),t.number(i.asked))}
              ${this.figure(this.text("turn.first_words"),t.duration(i.first_words_ms))}
              ${this.figure(this.text("turn.whole"),t.duration(i.duration_ms))}
              ${i.input_tokens?this.figure(this.text("turn.price"),t.money(i.cost)):d}
            </dl>`)}
      ${this.opened?.id===s.id?this.answers(this.opened):a`<div class="row">
              <button @click=${()=>{this.open(s.id)}}>${this.text("evaluate.answers")}</button>
            </div>`}
    </section>`}verdict(s){let t=i=>s.flatMap(({name:r,verdict:o})=>o===i?[r]:[]).join(", "),e=["good_enough","not_good_enough","too_few"].filter(i=>t(i));return a`<div class="card cards verdict" role="status">
      ${e.map(i=>a`<h3>${this.text(`evaluate.${i}`,{names:t(i)})}</h3>`)}
      <p class="quiet small">${this.text("evaluate.means")}</p>
    </div>`}async open(s){this.opened=await this.attempt(()=>this.call("evaluate/result",{result_id:s}))}answers(s){let t=new Map(s.agents.map(({agent_id:i,name:r})=>[i,r])),e=`data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(s,null,1))}`;return a`
      ${this.cards(s.requests.filter(({answers:i})=>i.length),"",({before:i,text:r,answers:o})=>a`<h3 class="sentence">${i?`${i} – ${r}`:r}</h3>
            ${o.map(({agent_id:l,grade:c,answer:p})=>a`<p>
                  <span class="mark ${c==="right"?"":"bad"}">${this.text(`grade.${c}`)}</span>
                  <span class="quiet">${t.get(l)}:</span> ${p}
                </p>`)}`)}
      <p><a href=${e} download="chatterbox-${s.id}.json">${this.text("evaluate.export")}</a></p>
    `}};h([m()],U.prototype,"trials",2),h([m()],U.prototype,"preview",2),h([m()],U.prototype,"chosen",2),h([m()],U.prototype,"opened",2),U=h([x("chatterbox-evaluate")],U);var j=class extends b{constructor(){super(...arguments);this.clock=Date.now()/1e3;this.outcome=""}async load(){let t=e=>{this.now=e,this.clock=Date.now()/1e3};await this.subscribe("now/subscribe",t,{language:this.page.texts.language})}connectedCallback(){super.connectedCallback(),this.ticking=setInterval(()=>{this.now?.questions.length&&(this.clock=Date.now()/1e3)},1e3)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.ticking)}render(){let{now:t}=this;return a`<div class="page" aria-busy=${!t}>
      ${this.failureNote()}
      <p role="status">${this.outcome}</p>
      ${t?a`
              ${this.alert(t.guests_since!==null&&this.text("now.guests",{time:this.page.texts.moment(t.guests_since)}))}
              ${t.questions.length?a`<section>
                      <h2>${this.text("now.questions")}</h2>
                      ${this.cards(t.questions,"cards notable",e=>this.question(e))}
                    </section>`:d}
              <section>
                <h2>${this.text("now.agents")}</h2>
                ${this.alert(this.page.info.is_admin&&t.unreadable.includes("usage")&&this.text("error.missing"))}
                ${this.rows(t.agents,e=>this.agent(e),"now.no_agents")}
                ${this.page.info.is_admin&&t.agents.length?a`<p><a href="/chatterbox/evaluate">${this.text("evaluate.title")}</a></p>`:d}
              </section>
              <section>
                <h2>${this.text("now.plans")}</h2>
                ${t.unreadable.includes("later")?this.alert(this.page.texts.reason("later_unreadable")):this.rows(t.plans,e=>this.plan(e),"now.no_plans")}
              </section>
              ${this.page.info.is_admin?a`<label class="check">
                      <input type="checkbox" ?checked=${this.page.info.everyone} @change=${this.share} />
                      <span>${this.text("now.everyone")}</span>
                    </label>`:d}
            `:d}
      ${this.edited?this.editor(this.edited):d} ${this.confirmation}
    </div>`}rows(t,e,i){return t.length?this.cards(t,"row spread",e):a`<p class="quiet">${this.text(i)}</p>`}async share(t){let e=t.target;await this.attempt(()=>this.call("page/share",{everyone:e.checked}))===void 0&&(e.checked=!e.checked)}agent(t){let{texts:e}=this.page,i=t.state==="ok"||t.state==="offline",r=[e.choice("agent",t.state)];!i&&t.since_at&&r.push(this.text("now.since",{time:e.moment(t.since_at)})),!i&&t.stands_in&&r.push(this.text("now.stands_in",{name:t.stands_in}));let o=i?"":t.stands_in?"notable":"bad";return a`<div class="wide">
        <h3 class="row"><span class="dot ${o}"></span>${t.name}</h3>
        <p class=${i?"quiet":""}>${r.join(" · ")}</p>
        ${t.detail?a`<p>${t.detail}</p>`:d}
      </div>
      ${t.turns_today===null?d:a`<dl>
              ${this.figure(this.text("now.today"),e.number(t.turns_today))}
              ${this.figure(this.text("now.wait"),e.duration(t.usual_wait_ms))}
              ${this.figure(this.text("now.month"),e.sum(t.cost_month))}
            </dl>`}`}question(t){let{texts:e}=this.page,i=Math.max(0,Math.round(t.expires_at-this.clock)),r=[t.agent,t.person,t.place].filter(Boolean).join(" · ");return a`
      <div class="row spread">
        <h3>${t.text}</h3>
        <span class="figure quiet" role="timer">${this.text("now.left",{time:e.countdown(i)})}</span>
      </div>
      <p class="quiet">
        ${t.words?a`<q>${t.words}</q> · `:d}${r}
        ${t.turn_id?a`· <a href="/chatterbox/turns/${encodeURIComponent(t.turn_id)}">${this.text("now.turn")}</a>`:d}
      </p>
      ${t.calls.length>1?t.calls.map(o=>a`<p class="sentence">${o.sentence}</p>`):d}
      <form class="row" @submit=${o=>this.answer(o,t)}>
        ${t.may_answer===null?a`
                ${t.needs_pin?a`<label
                        >${this.text("now.pin")}<input
                          name="pin"
                          type="password"
                          inputmode="numeric"
                          autocomplete="off"
                          required
                          size="8"
                        />${this.fieldError(t.id)}</label
                      >`:d}
                <button class="main" value="yes">${this.text("now.yes")}</button>
              `:d}
        <button value="no" formnovalidate>${this.text("now.no")}</button>
        ${t.may_answer===null?d:a`<span class="quiet wide"
                >${e.reason(t.may_answer)??this.text(`now.${t.who}`)}</span
              >`}
      </form>
    `}answer(t,e){t.preventDefault();let i=t.target,r=t.submitter?.value!=="no",o=String(new FormData(i).get("pin")??"");i.reset(),this.attempt(async()=>{let l={question_id:e.id,approved:r,...r&&o?{password:o}:{}};this.outcome=(await this.call("question/answer",l)).speech},r&&o?e.id:"")}plan(t){let{texts:e}=this.page,i=[t.due_at===null?"":e.moment(t.due_at),t.condition??"",t.repeats].filter(Boolean),r=[t.agent,t.person,t.place].filter(Boolean).join(" · ");return a`
      <div class="wide">
        <h3 class="sentence">${t.text}</h3>
        <p class="quiet">${[e.choice("plan",t.kind),...i].join(" · ")}<br />${r}</p>
      </div>
      ${t.can_cancel?a`<div class="row">
              ${t.can_change||t.can_rename?a`<button
                      aria-label="${this.text("now.edit")}: ${t.text}"
                      @click=${()=>this.edited=t}
                    >
                      ${this.text("now.edit")}
                    </button>`:d}
              ${t.can_automate?a`<button
                      aria-label="${this.text("now.automate")}: ${t.text}"
                      @click=${()=>{this.automate(t)}}
                    >
                      ${this.text("now.automate")}
                    </button>`:d}
              <button aria-label="${this.text("now.cancel")}: ${t.text}" @click=${()=>{this.cancel(t)}}>
                ${this.text("now.cancel")}
              </button>
            </div>`:d}
    `}async cancel(t){await this.confirm(this.text("now.cancel_question",{plan:t.text}),this.text("now.cancel"))&&await this.attempt(()=>this.call("plan/cancel",{plan_id:t.id}))}async automate(t){let e=this.text("now.automate_question",{plan:t.text});await this.confirm(e,this.text("now.automate"))&&await this.attempt(async()=>{let i=await this.call("plan/automation",{plan_id:t.id}),r=`${Date.now()}`;await this.page.hass.callApi("POST",`config/automation/config/${r}`,i),await this.call("plan/cancel",{plan_id:t.id}),O(`/config/automation/edit/${r}`)})}editor(t){let{texts:e}=this.page;return this.dialog(t.text,a`${t.can_rename?a`<label
              >${this.text("now.text")}<input name="text" required maxlength="200" .value=${t.text}
            /></label>`:d}
      ${t.can_change&&t.due_at!==null?a`<label
              >${this.text("now.due")}<input
                name="due"
                type="datetime-local"
                required
                .value=${e.fieldOf(t.due_at)}
            /></label>`:d}
      ${this.fieldError("plan")}`,a`<button class="main" value="save">${this.text("page.save")}</button>`,()=>this.edited=void 0,i=>{this.change(i,t)})}async change(t,e){if(t.submitter?.value!=="save")return;t.preventDefault();let i=new FormData(t.target),[r,o]=[i.get("text"),i.get("due")],{texts:l}=this.page,c={...r!==null&&r!==e.text?{text:r}:{},...o!==null&&o!==l.fieldOf(e.due_at??0)?{due_at:l.ofField(String(o))}:{}},p=()=>this.call("plan/change",{plan_id:e.id,...c});(!Object.keys(c).length||await this.attempt(p,"plan"))&&(this.edited=void 0)}};h([m()],j.prototype,"now",2),h([m()],j.prototype,"clock",2),h([m()],j.prototype,"edited",2),h([m()],j.prototype,"outcome",2),j=h([x("chatterbox-now")],j);var Ze=["allow","ask","pin","deny"],St=50,ue=200,Ke=150,P=class extends b{constructor(){super(...arguments);this.total=0;this.rooms=[];this.unfolded=new Map;this.search="";this.generation=0}updated(t){super.updated(t),t.get("permissions")&&this.attempt(()=>this.refresh())}async load(){await this.list(0,St)}async refresh(){await Promise.all([...this.unfolded.keys()].map(t=>this.unfold(t))),await this.list(0,Math.min(ue,Math.max(St,this.rows?.length??0)))}async unfold(t){let e={language:this.page.texts.language,verdict:"allow",area:t,limit:ue},{rows:i}=await this.call("permissions/devices",e);this.unfolded.set(t,i),this.requestUpdate()}async list(t,e){let i=++this.generation,{total:r,rows:o,rooms:l}=await this.call("permissions/devices",{language:this.page.texts.language,search:this.search,offset:t,limit:e});if(i!==this.generation)return;let c=this.search?0:l.reduce((g,{count:u})=>g+u,0),p=this.search?o:o.filter(({verdict:g})=>g!=="allow");[this.total,this.rooms]=[r-c,l],this.rows=[...(this.rows??[]).slice(0,t),...p]}filter(t){this.search=t.trim(),this.afterTyping(Ke,()=>{this.attempt(()=>this.list(0,St))})}render(){let{rows:t}=this;return a`
      ${this.failureNote()}
      <label class="wide"
        >${this.text("permissions.search")}<input
          type="search"
          maxlength="200"
          @input=${e=>this.filter(q(e))}
      /></label>
      <div aria-busy=${!t}>${t?this.table(t):d}</div>
      ${t&&t.length<this.total?a`<button @click=${()=>{this.attempt(()=>this.list(t.length,St))}}>
              ${this.text("permissions.more",{count:this.total-t.length})}
            </button>`:d}
      ${t&&!this.search?this.folded():d}
    `}folded(){return a`<h3>${this.text("permissions.at_once")}</h3>
      ${K(this.rooms,({area:t})=>t,({area:t,count:e})=>a`<details
            class="card"
            @toggle=${i=>{i.target.open&&this.attempt(()=>this.unfold(t))}}
          >
            <summary>
              ${t||this.text("permissions.no_area")}
              <span class="quiet figure">${this.page.texts.number(e)}</span>
            </summary>
            <table>
              <tbody>
                ${(this.unfolded.get(t)??[]).map(i=>this.row(i))}
              </tbody>
            </table>
          </details>`)}`}verdictText(t){return this.page.texts.choice("may",t)}table(t){return t.length?a`<table class="card">
      <thead class="quiet small">
        <tr>
          <th scope="col">${this.text("permissions.device")}</th>
          <th scope="col">${this.text("permissions.now")}</th>
          <th scope="col">${this.text("permissions.choice")}</th>
        </tr>
      </thead>
      <tbody>
        ${K(t,e=>e.entity_id,e=>this.row(e,e.area))}
      </tbody>
    </table>`:this.search?a`<p>${this.text("permissions.no_devices")}</p>`:d}row(t,e=""){let i=t.verdict!=="allow";return a`<tr>
      <th scope="row">
        ${t.name}
        <div class="quiet small">
          ${[e,...this.why(t)].filter(Boolean).map((r,o)=>o?[" · ",r]:r)}
        </div>
      </th>
      <td><span class=${i?"mark notable":"quiet"}>${this.verdictText(t.verdict)}</span></td>
      <td>
        <select
          aria-label="${this.text("permissions.choice")}: ${t.name}"
          ?disabled=${this.permissions.locked}
          @change=${r=>this.choose(t,r.target)}
        >
          <option value="" .selected=${t.chosen===null}>${this.text("permissions.as_rules_say")}</option>
          ${Ze.map(r=>a`<option value=${r} .selected=${t.chosen===r}>${this.verdictText(r)}</option>`)}
        </select>
      </td>
    </tr>`}why(t){return t.why==="nothing"?[]:[t.rule===null?this.page.texts.choice("why",t.why):a`<a href="/chatterbox/permissions/rules?rule=${t.rule}"
            >${this.text("permissions.rule",{number:t.rule})}</a
          >`,[...t.actions,...t.more_actions?["…"]:[]].join(", ")]}choose(t,e){let i=e.value||null;e.value=t.chosen??"",this.dispatchEvent(new CustomEvent("choose",{detail:{entity_id:t.entity_id,verdict:i}}))}};P.styles=[A,w`
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
          padding-bottom: 0;
        }
        td {
          width: auto;
          min-width: 0;
          padding-right: 0;
        }
      }
    `],h([_({attribute:!1})],P.prototype,"permissions",2),h([m()],P.prototype,"rows",2),h([m()],P.prototype,"total",2),h([m()],P.prototype,"rooms",2),h([m()],P.prototype,"unfolded",2),P=h([x("chatterbox-devices")],P);var Qe=["entities","areas","domains","actions"],me=["device_classes","labels","users","devices","tools"],Je=20,E=class extends b{constructor(){super(...arguments);this.problem="";this.draft={verdict:"ask"};this.tools=[];this.suggestions=[];this.added=new Map}willUpdate(t){t.has("rule")&&(this.draft=structuredClone(this.rule??{verdict:"ask"}))}async load(){await this.suggest(""),this.tools=await this.call("permissions/tools")}async suggest(t){let e={language:this.page.texts.language,search:t,limit:Je},{rows:i}=await this.call("permissions/devices",e);this.suggestions=i.map(({entity_id:r,name:o,area:l})=>({id:r,name:l?`${o} (${l})`:o}))}render(){let{draft:t}=this,e=me.filter(i=>this.choices(i).length||t[i]);return this.dialog(this.text(this.rule?"permissions.edit":"permissions.add"),a`${this.failureNote()} ${this.alert(this.problem)}
        <label
          >${this.permissions.fields.verdict}<select
            @change=${i=>this.set({verdict:q(i)})}
          >
            ${this.permissions.choices.verdicts.map(({id:i,name:r})=>a`<option value=${i} .selected=${i===t.verdict}>${r}</option>`)}
          </select></label
        >
        ${Qe.map(i=>this.condition(i))}
        ${this.missing==="condition"?this.fieldError("",this.text("permissions.no_condition")):d}
        <details ?open=${!!t.window||me.some(i=>t[i])}>
          <summary>${this.permissions.fields.more}</summary>
          <div class="cards more">
            <div class="row">${this.time("after")} ${this.time("before")}</div>
            ${this.missing==="time"?this.fieldError("",this.text("permissions.both_times")):d}
            ${e.map(i=>this.condition(i))}
          </div>
        </details>`,a`<button class="main" value="save">${this.text("page.save")}</button>`,()=>this.dispatchEvent(new CustomEvent("closed")),i=>this.close(i))}choices(t){return t==="tools"&&this.tools.length?this.tools:this.permissions.choices[t]}offered(t){if(t!=="actions")return this.choices(t);let e=[...this.draft.domains??[],...(this.draft.entities??[]).map(ge)];return this.choices(t).filter(({id:i})=>e.includes(ge(i)))}set(t){this.draft={...this.draft,...t},this.missing=void 0}condition(t){let e=this.draft[t]??[],i=this.permissions.fields[t]??t;return a`<div class="cards">
      ${t==="entities"?this.search(i):this.choice(t,i,e)}
      ${e.length?a`<ul class="row" aria-label=${i}>
              ${e.map(r=>a`<li class="mark">${this.chip(t,r,e)}</li>`)}
            </ul>`:d}
    </div>`}choice(t,e,i){let r=this.offered(t).filter(({id:c})=>!i.includes(c)),l=t==="actions"&&!this.offered(t).length?"permissions.kind_first":i.length?"permissions.or":"permissions.any";return a`<label
      >${e}<select
        ?disabled=${!r.length}
        @change=${c=>{let p=c.target;p.value&&this.set({[t]:[...i,p.value]}),p.value=""}}
      >
        <option value="">${this.text(l)}</option>
        ${r.map(({id:c,name:p})=>a`<option value=${c}>${p}</option>`)}
      </select></label
    >`}search(t){return a`<label
        >${t}<input
          list="found"
          autocomplete="off"
          placeholder=${this.text("permissions.search")}
          @input=${e=>this.typed(e.target)}
      /></label>
      <datalist id="found">${this.suggestions.map(({name:e})=>a`<option value=${e}></option>`)}</datalist>`}typed(t){let e=this.suggestions.find(({name:r})=>r===t.value),i=this.draft.entities??[];if(!e)return void this.attempt(()=>this.suggest(t.value));t.value="",this.added.set(e.id,e.name),i.includes(e.id)||this.set({entities:[...i,e.id]})}chip(t,e,i){let o=this.choices(t).find(({id:l})=>l===e)?.name??this.added.get(e)??e;return a`${o}
      <button
        type="button"
        class="bare"
        aria-label="${this.text("permissions.remove")}: ${o}"
        @click=${()=>this.set({[t]:i.filter(l=>l!==e)})}
      >
        ${N("close")}
      </button>`}time(t){let{window:e}=this.draft;return a`<label
      >${this.permissions.fields[t]}<input type="time" name=${t} .value=${e?.[t].slice(0,5)??""}
    /></label>`}close(t){if(t.submitter?.value!=="save")return;t.preventDefault();let i=[...t.target.querySelectorAll("[type=time]")],r=i.every(v=>!v.value),o=Object.entries(this.draft).filter(([,v])=>Array.isArray(v)&&v.length),l=r&&!o.length&&(!this.rule||Object.keys(this.rule).length>1);if(this.missing=l?"condition":!r&&i.some(v=>!v.value)?"time":void 0,this.missing)return;let{window:c,verdict:p}=this.draft,g=[c?.after,c?.before].map(v=>v??""),[u="",$=""]=i.map(({value:v},y)=>g[y]?.startsWith(v)?g[y]:`${v}:00`),f={verdict:p,...Object.fromEntries(o),...r?{}:{window:{after:u,before:$}}};this.dispatchEvent(new CustomEvent("save",{detail:f}))}};E.styles=[A,w`
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
        padding: 0;
      }
    `],h([_({attribute:!1})],E.prototype,"permissions",2),h([_({attribute:!1})],E.prototype,"rule",2),h([_()],E.prototype,"problem",2),h([m()],E.prototype,"draft",2),h([m()],E.prototype,"tools",2),h([m()],E.prototype,"missing",2),h([m()],E.prototype,"suggestions",2),E=h([x("chatterbox-rule-editor")],E);function ge(n){return n.split(".")[0]??""}var Ye=["unlock","open","disarm"],R=class extends b{constructor(){super(...arguments);this.problem="";this.isPinOpen=!1;this.outcome="";this.wanted=0;this.requests=0;this.newest=0}async load(){await Promise.all([this.list(),this.subscribe("permissions/subscribe",()=>{this.edited===void 0&&this.refresh()})])}updated(t){super.updated(t),t.has("path")&&(this.wanted=Number(new URLSearchParams(location.search).get("rule")));let e=this.wanted?this.renderRoot.querySelector(`[data-rules~="${this.wanted}"]`):null;e&&(this.wanted=0,e.scrollIntoView({block:"center"}),e.focus())}async list(){await this.showNewest(this.call("permissions/get",{language:this.page.texts.language}))}async showNewest(t){let e=++this.requests,i=await t;return e>this.newest&&([this.newest,this.permissions]=[e,i]),i}async refresh(){let{failure:t}=this;await this.attempt(()=>this.list()),this.failure??=t}async change(t,e,i=""){let[r,o]=[this.page.texts.language,this.permissions?.version],l=await this.attempt(()=>this.showNewest(this.call(`permissions/${t}`,{language:r,version:o,...e})),i);return!l&&this.failure?.code==="changed"&&(this.failedField="",await this.refresh()),this.outcome=l?this.text("permissions.saved"):"",!!l}render(){let{permissions:t}=this;return a`<div class="page" aria-busy=${!t}>
      ${Et(this.page,this.path)} ${this.failureNote()}
      <p class="hidden" role="status">${this.outcome}</p>
      ${t?a`
              ${this.alert(t.locked&&this.text("error.rules_locked"))}
              ${this.path==="rules"?a`<section aria-labelledby="rules">${this.rules(t)}</section>`:a`<section aria-labelledby="devices">
                      <h2 id="devices">${this.text("permissions.devices")}</h2>
                      <p class="quiet">${this.text("permissions.devices_note")}</p>
                      <chatterbox-devices
                        class="cards"
                        .page=${this.page}
                        .permissions=${t}
                        @choose=${e=>{this.change("choose",e.detail)}}
                      ></chatterbox-devices>
                    </section>`}
              ${this.isPinOpen?this.pin(t):d} ${this.editor(t)}
            `:d}
      ${this.confirmation}
    </div>`}rules(t){let{rules:e,defaults:i,locked:r}=t,o=[];for(let[l,c]of e.entries()){let p=o.at(-1);c.is_of_pin&&p?.rules[0]?.is_of_pin?p.rules.push(c):o.push({at:l,rules:[c]})}return a`
      <div class="row spread">
        <h2 id="rules">${this.text("permissions.rules")}</h2>
        <button ?disabled=${r} @click=${()=>this.edit(e.length)}>${this.text("permissions.add")}</button>
      </div>
      <p class="quiet">${this.text("permissions.rules_note")}</p>
      ${e.length?a`<ol class="cards">
              ${o.map((l,c)=>this.line(l,o[c-1],o[c+1],t))}
            </ol>`:a`<p ?hidden=${r}>${this.text("permissions.no_rules")}</p>`}
      ${t.pin_uses.length||r?d:a`<div class="card row spread">
              <p class="wide">${this.text(t.has_pin?"permissions.pin_is_set":"permissions.no_pin")}</p>
              <button ?disabled=${r} @click=${()=>this.openPin()}>
                ${this.text(t.has_pin?"permissions.change_pin":"permissions.set_pin")}
              </button>
            </div>`}
      <details>
        <summary>${this.text("permissions.defaults")}</summary>
        <ul class="cards">
          ${i.map(({text:l})=>a`<li>${l}</li>`)}
        </ul>
      </details>
    `}line(t,e,i,r){let{locked:o,rules:l}=r,[c,p]=[t.at+1,t.rules.length],g=!!t.rules[0]?.is_of_pin,u=t.rules.map((M,J)=>c+J),$=r.pin_uses.map(M=>this.page.texts.choice("pin_use",M)).join("; "),f=g?this.text("permissions.pin_rule",{uses:$}):t.rules[0]?.text??"",v=this.text("permissions.rule",{number:c}),y=(M,J,we)=>this.iconButton(M,this.text(`permissions.${M}`),we,o||J,v);return a`<li class="card row spread" data-rules=${u.join(" ")} tabindex="-1">
      <p class="wide">
        <span class="quiet figure">${p>1?`${c}–${c+p-1}`:c}.</span> ${f}
      </p>
      <div class="row">
        ${y("up",!e,()=>{this.move(l,t,e?.at??0)})}
        ${y("down",!i,()=>{this.move(l,t,t.at+(i?.rules.length??0))})}
        ${y("edit",!1,()=>g?this.openPin():this.edit(t.at))}
        ${y("delete",!1,()=>{g?this.removePin():this.discard(l,t.at,f)})}
      </div>
    </li>`}async move(t,{at:e,rules:i},r){let o=t.map(({rule:l})=>l);o.splice(r,0,...o.splice(e,i.length)),await this.change("set_rules",{rules:o})}async discard(t,e,i){let r=this.permissions?.version;if(await this.confirm(this.text("permissions.delete_question",{rule:i}),this.text("permissions.delete"))){let o=t.filter((l,c)=>c!==e).map(({rule:l})=>l);await this.change("set_rules",{rules:o,version:r})}}edit(t){[this.edited,this.problem]=[t,""]}editor(t){let e=this.edited;if(e===void 0)return d;let i=t.rules.map(({rule:r})=>r);return a`<chatterbox-rule-editor
      .page=${this.page}
      .permissions=${t}
      .rule=${i[e]}
      .problem=${this.problem}
      @closed=${()=>{this.edited=void 0,this.refresh()}}
      @save=${async r=>{let o=await this.change("set_rules",{rules:i.toSpliced(e,1,r.detail)}),{failure:l}=this;o||l?.code==="changed"?this.edited=void 0:l&&(this.problem=this.page.texts.failure(l))}}
    ></chatterbox-rule-editor>`}openPin(){[this.isPinOpen,this.failure]=[!0,void 0]}pin({has_pin:t,pin_uses:e}){return this.dialog(this.text(t?"permissions.change_pin":"permissions.set_pin"),a`${t?a`<p class="quiet">${this.text("permissions.pin_is_set")}</p>`:d}
        <label
          >${this.text(t?"permissions.new_pin":"now.pin")}<input
            name="pin"
            type="password"
            inputmode="numeric"
            autocomplete="off"
            ?required=${!t}
          />${this.fieldError("pin")}</label
        >
        <fieldset>
          <legend class="small">${this.text("permissions.pin_for")}</legend>
          ${Ye.map(i=>a`<label class="check"
                ><input type="checkbox" name="uses" value=${i} .checked=${e.includes(i)||!t} /><span
                  >${this.page.texts.choice("pin_use",i)}</span
                ></label
              >`)}
          ${this.fieldError("uses")}
        </fieldset>`,a`${t?a`<button type="button" class="bad" @click=${()=>{this.removePin()}}>
                ${this.text("permissions.remove_pin")}
              </button>`:d} <button class="main" value="save">${this.text("page.save")}</button>`,()=>this.isPinOpen=!1,i=>{this.setPin(i,t)})}async setPin(t,e){if(t.submitter?.value!=="save")return;t.preventDefault();let i=t.target,r=new FormData(i),o=String(r.get("pin")??"");i.querySelector("[name=pin]").value="";let l={uses:r.getAll("uses"),...o||!e?{new_password:o}:{}};(await this.change("set_pin",l,o&&l.uses.length?"pin":"uses")||this.failure?.code==="changed")&&(this.isPinOpen=!1)}async removePin(){this.isPinOpen=!1,await this.confirm(this.text("permissions.remove_pin_question"),this.text("permissions.remove_pin"))&&await this.change("set_pin",{new_password:null,uses:[]})}};R.styles=[A,w`
      .page > [role="alert"] {
        position: sticky;
        top: 8px;
        z-index: 1;
      }
      fieldset {
        padding: 0;
        border: none;
        color: var(--secondary-text-color);
      }
    `],h([m()],R.prototype,"permissions",2),h([m()],R.prototype,"edited",2),h([m()],R.prototype,"problem",2),h([m()],R.prototype,"isPinOpen",2),h([m()],R.prototype,"outcome",2),R=h([x("chatterbox-permissions")],R);var Xe=500,tt=class extends b{constructor(){super(...arguments);this.isTrying=!1}render(){let{agents:t}=this.page.info,e=new URLSearchParams(location.search);return a`<div class="page">
      ${Et(this.page,"try")} ${this.failureNote()}
      <section aria-labelledby="try">
        <h2 id="try">${this.text("permissions.try")}</h2>
        <p class="quiet">${this.text("permissions.try_note")}</p>
        ${t.length?a`<form class="row" @submit=${i=>{this.try(i)}}>
                <label class="wide"
                  >${this.text("permissions.sentence")}<input
                    name="sentence"
                    required
                    maxlength=${Xe}
                    value=${e.get("sentence")??""}
                    ${Tt(e.has("sentence")?ts:void 0)}
                /></label>
                <label
                  >${this.text("turns.agent")}<select name="agent">
                    ${t.map(({id:i,name:r})=>a`<option value=${i} ?selected=${i===e.get("agent")}>${r}</option>`)}
                  </select></label
                >
                <button class="main" ?disabled=${this.isTrying}>${this.text("permissions.try_button")}</button>
              </form>`:a`<p>${this.text("now.no_agents")}</p>`}
        <div role="status" aria-busy=${this.isTrying}>${this.trial?this.tried(this.trial):d}</div>
      </section>
    </div>`}async try(t){t.preventDefault();let{sentence:e,agent:i}=Object.fromEntries(new FormData(t.target)),r={language:this.page.texts.language,sentence:e,agent:i};[this.isTrying,this.trial]=[!0,void 0],this.trial=await this.attempt(()=>this.call("permissions/try",r)),this.isTrying=!1}tried({text:t,calls:e}){return a`<div class="card cards">
      ${e.length?a`<ul class="cards">
              ${e.map(i=>a`<li>${this.triedCall(i,t)}</li>`)}
            </ul>`:a`<p>${this.text("permissions.nothing_done")}</p>`}
      ${t?a`<p class="quiet">${this.text("permissions.answer")} <q>${t}</q></p>`:d}
    </div>`}triedCall(t,e){let i=t.outcome==="held"&&t.verdict==="pin"?"held_pin":t.outcome;return a`<div class="row">
        <span class="mark ${t.outcome==="runs"?"":"notable"}">${this.page.texts.choice("tried",i)}</span>
        <span class="sentence">${t.sentence||t.tool}</span>
        ${t.rules.map(r=>a`<a href="/chatterbox/permissions/rules?rule=${r}"
              >${this.text("permissions.rule",{number:r})}</a
            >`)}
      </div>
      ${t.why&&t.why!==e?a`<p class="quiet">${t.why}</p>`:d}`}};h([m()],tt.prototype,"trial",2),h([m()],tt.prototype,"isTrying",2),tt=h([x("chatterbox-trying")],tt);function ts(n){n instanceof HTMLElement&&queueMicrotask(()=>n.focus())}var es={failed:"bad",not_done:"bad",cut_short:"bad",asked:"notable",stood_in:"notable",outside:"notable"};function Pt(n,s){return a`<span class="mark sentence ${es[n.kind]??""}">${ss(n,s)}</span>`}function ss({kind:n,text:s},t){return(n==="changed"||n==="not_done")&&s?s:(n==="failed"||n==="cut_short")&&t.choice("stop",s,"")||t.text(`mark.${n}`,{name:s})}var Q=class extends b{constructor(){super(...arguments);this.notice=""}async load(){this.turn=void 0,this.notice="",this.turn=await this.call("turns/get",{turn_id:this.path,language:this.page.texts.language})}render(){let{turn:t}=this;return a`<div class="page" aria-busy=${!t&&!this.failure}>
      ${t?.previous||t?.next?a`<nav class="row spread" aria-label=${this.text("turn.conversation")}>
              ${this.neighbour("turn.previous",t.previous)} ${this.neighbour("turn.next",t.next)}
            </nav>`:d}
      ${this.failureNote()}
      ${t?[this.summary(t),this.actions(t),this.times(t),this.background(t),this.footer(t)]:d}
      ${this.confirmation}
    </div>`}neighbour(t,e){if(!e)return d;let i=`/chatterbox/turns/${encodeURIComponent(e)}`;return a`<a href=${i} @click=${o=>{o.preventDefault(),O(i,!0)}}>${this.text(t)}</a>`}summary(t){let{texts:e}=this.page,i=[t.person??t.caller,t.place,t.agent].filter(Boolean).join(" · "),r=t.withheld?this.text(`turn.withheld_${t.withheld}`):t.words_full;return a`<section class="card cards">
      <p class="quiet">${e.fullMoment(t.at)} · ${i}</p>
      <h2>${r||this.text("turns.no_words")}</h2>
      <p class="answer">${t.answer_full||a`<span class="quiet">${this.text("turn.no_answer")}</span>`}</p>
      ${t.marks.length?a`<div class="row">${t.marks.map(o=>Pt(o,e))}</div>`:d}
    </section>`}times(t){let{texts:e}=this.page,i=this.spans(t),{usage:r}=t,o=l=>Math.min(100,Math.max(0,100*l/Math.max(1,t.duration_ms)));return a`<section>
      <h2>${this.text("turn.times")}</h2>
      <div class="card cards">
        <dl>
          ${this.figure(this.text("turn.whole"),e.duration(t.duration_ms))}
          ${this.figure(this.text("turn.first_words"),e.duration(t.first_words_ms))}
          ${r.input_tokens?a`
                  ${this.figure(this.text("turn.read"),e.number(r.input_tokens))}
                  ${this.figure(this.text("turn.cached"),e.number(r.cached_tokens))}
                  ${this.figure(this.text("turn.written"),e.number(r.output_tokens))}
                  ${this.figure(this.text("turn.price"),e.money(t.cost))}
                `:d}
        </dl>
        <ol class="cards">
          ${i.map(l=>a`<li>
                <div class="row spread">
                  <span class=${l.looks==="model"?"":"sentence"}>${l.label}</span>
                  <span class="figure quiet"
                    >${l.looks==="handover"?d:e.duration(l.end-l.begin)}</span
                  >
                </div>
                <svg class=${l.looks} width="100%" height="10" aria-hidden="true">
                  <rect class="track" width="100%" height="10" rx="2"></rect>
                  ${lt`<rect class="wait" x="${o(l.begin)}%" width="${o(l.middle-l.begin)}%" height="10"></rect>
                <rect class="write" x="${o(l.middle)}%" width="max(2px, ${o(l.end-l.middle)}%)" height="10"></rect>`}
                  ${t.first_words_ms===null?d:lt`<line x1="${o(t.first_words_ms)}%" x2="${o(t.first_words_ms)}%" y2="10"></line>`}
                </svg>
                ${l.note?a`<div class="quiet small">${l.note}</div>`:d}
              </li>`)}
        </ol>
        ${t.inferences.length?a`<p class="quiet small">${this.text("turn.key")}</p>`:d}
        <details>
          <summary>${this.text("turn.phases")}</summary>
          <ol class="phases">
            ${t.phases.map(({phase:l,at_ms:c})=>a`<li>
                  <span class="figure quiet">${e.duration(c)}</span>
                  ${e.choice("phase",l.toLowerCase())}
                </li>`)}
          </ol>
        </details>
      </div>
    </section>`}spans(t){let e=t.duration_ms,i=t.inferences.map(c=>{let p=c.duration_ms===null?e:c.began_ms+c.duration_ms,g=c.first_token_ms===null?p:c.began_ms+c.first_token_ms;return{label:c.answered_by||this.text("turn.inference"),note:this.tokens(c),begin:c.began_ms,middle:g,end:p,looks:"model"}}),r=[...t.calls],o=t.tools.flatMap(c=>{let p=r.findIndex(({name:v})=>v===c.name),[g]=p<0?[]:r.splice(p,1);if(c.began_ms===null)return[];let u=c.duration_ms===null?e:c.began_ms+c.duration_ms,$=c.is_error?"bad":"tool";return[{label:g?.sentence||c.name,note:"",begin:c.began_ms,middle:c.began_ms,end:u,looks:$}]}),l=t.handovers.map(({at_ms:c,to:p,reason:g})=>({label:this.text("turn.handover",{name:p}),note:g,begin:c,middle:c,end:c,looks:"handover"}));return[...i,...o,...l].sort((c,p)=>c.begin-p.begin)}tokens(t){let{texts:e}=this.page,{input_tokens:i,cached_tokens:r,output_tokens:o,cost:l}=t;if(i===null)return this.text("turn.no_tokens");if(i===0)return"";let c={read:e.number(i),cached:e.number(r??0),written:e.number(o??0)};return[this.text("turn.tokens",c),...l?[e.money(l)]:[]].join(" · ")}actions(t){let e=new Set(t.calls.map(r=>r.id)),i=t.changes.filter(({tool_call_id:r})=>r===null||!e.has(r));return!t.calls.length&&!i.length?d:a`<section>
      <h2>${this.text("turn.actions")}</h2>
      <ul class="cards">
        ${t.calls.map(r=>{let o=t.changes.filter(({tool_call_id:l})=>l===r.id);return a`<li class="card cards">${this.action(r,o)}</li>`})}
        ${i.map(r=>a`<li class="card cards">${this.change(r)}</li>`)}
      </ul>
    </section>`}action(t,e){let i=t.is_error?t.has_run?"turn.failed":"turn.not_run":"";return a`
      <div class="row spread">
        <h3 class="sentence">${t.sentence||t.name}</h3>
        <span class="row">
          ${i?a`<span class="mark bad">${this.text(i)}</span>`:d}
          ${t.is_outside?a`<span class="mark notable">${this.text("mark.outside")}</span>`:d}
        </span>
      </div>
      ${e.map((r,o)=>this.change(r,t.sentence,e[o-1]))}
      <details>
        <summary class="quiet">${this.text("turn.raw")}</summary>
        <div class="cards">
          <p class="small">${t.name}</p>
          <pre>${fe(t.arguments)}</pre>
          <pre>${fe(t.result)}</pre>
        </div>
      </details>
    `}change(t,e="",i){let r=this.reasons(t);return a`<div>
      ${t.message===e?d:a`<p class="sentence">${t.message}</p>`}
      ${r&&!(i&&this.reasons(i)===r)?a`<p class="quiet">${r}</p>`:d}
    </div>`}reasons(t){let{texts:e}=this.page,i=t.verdict===null?"":e.choice("verdict",t.verdict),{rules:r}=t,o=t.decided_by.map(p=>e.choice("decided",p)),l=r.length?r.join(" "):o.join(", ");return[i&&l?`${i}: ${l}`:i||l,t.answered_by,t.error].filter(Boolean).join(" · ")}background(t){return!t.context&&!t.outside.length?d:a`<section>
      <h2>${this.text("turn.background")}</h2>
      <div class="card">
        ${t.outside.length?a`<p>${this.text("turn.outside",{tools:t.outside.join(", ")})}</p>`:d}
        ${t.context?a`<details>
                <summary>${this.text("turn.context")}</summary>
                <pre>${t.context}</pre>
              </details>`:d}
      </div>
    </section>`}footer(t){return a`<section>
      <div class="row">
        ${this.page.info.is_admin&&t.words_full&&!t.withheld?a`<a
                href="/chatterbox/permissions/try?${new URLSearchParams({sentence:t.words_full.slice(0,500),agent:t.agent_id})}"
                >${this.text("turn.again")}</a
              >`:d}
        <button @click=${()=>{this.copy(t)}}>${this.text("turn.copy")}</button>
        <button class="bad" @click=${()=>{this.delete(t)}}>${this.text("turn.delete")}</button>
        <span role="status">${this.notice}</span>
      </div>
      <p class="quiet small">${this.text("turn.copy_note")}</p>
    </section>`}async copy(t){await this.attempt(async()=>{let{report:e}=await this.call("turns/report",{turn_id:t.id});this.notice=this.text(await is(e,this.renderRoot)?"turn.copied":"turn.not_copied")})}async delete(t){if(!await this.confirm(this.text("turn.delete_question"),this.text("turn.delete")))return;await this.attempt(()=>this.call("turns/delete",{turn_id:t.id}))&&O("/chatterbox/turns",!0)}};Q.styles=[A,w`
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
    `],h([m()],Q.prototype,"turn",2),h([m()],Q.prototype,"notice",2),Q=h([x("chatterbox-turn")],Q);function fe(n){return typeof n=="string"?n:JSON.stringify(n,null,2)}async function is(n,s){if(navigator.clipboard)return navigator.clipboard.writeText(n).then(()=>!0,()=>!1);let t=document.createElement("textarea");t.value=n,s.appendChild(t),t.select();let e=document.execCommand("copy");return t.remove(),e}var rs={},ve=Z(class extends D{constructor(){super(...arguments),this.ot=rs}render(n,s){return s()}update(n,[s,t]){if(Array.isArray(s)){if(Array.isArray(this.ot)&&this.ot.length===s.length&&s.every((e,i)=>e===this.ot[i]))return T}else if(this.ot===s)return T;return this.ot=Array.isArray(s)?Array.from(s):s,this.render(s,t)}});var ns=["words","person_id","device_id","agent","from","to"],xe=["failed","slow","asked"],$e=50,os=200,be=8,as=100,ls=720,k=class extends b{constructor(){super(...arguments);this.rows=[];this.unreachable=[];this.top=0;this.height=0;this.rowHeight=64;this.isOpen=!1;this.next=null;this.filter={};this.generation=0;this.isLoadingMore=!1;this.resizes=new ResizeObserver(()=>{this.height=this.scroller.clientHeight,this.rowHeight=this.scroller.clientWidth>ls?64:112})}willUpdate(t){t.has("page")&&(this.filter=cs(new URLSearchParams(location.search)))}disconnectedCallback(){super.disconnectedCallback(),this.resizes.disconnect()}async load(){this.resizes.observe(this.scroller),await Promise.all([this.loadFirst(),this.subscribe("turns/subscribe",()=>{this.attempt(()=>this.loadNew())})])}updated(t){super.updated(t),(t.has("top")||t.has("height")||t.has("rows"))&&this.attempt(()=>this.loadMore())}async list(t){let{from:e,to:i,...r}=this.filter,{texts:o}=this.page,l={...e?{since_at:o.ofField(`${e}T00:00`)}:{},...i?{until_at:o.ofField(`${i}T23:59`)+60}:{}},c=await this.call("turns/list",{language:o.language,...r,...l,...t});return this.unreachable=c.unreachable,c}async loadFirst(){let t=++this.generation,{turns:e,next:i,total:r}=await this.list({limit:$e});t===this.generation&&([this.rows,this.next,this.total]=[e,i,r??e.length],this.scroller.scrollTop=this.top=0)}async loadMore(){if(!this.isLoadingMore){this.isLoadingMore=!0;try{for(;this.next!==null&&this.lastVisible>=this.rows.length;){let t=this.generation,{turns:e,next:i}=await this.list({limit:os,cursor:this.next});t===this.generation&&([this.rows,this.next]=[[...this.rows,...e],i])}}finally{this.isLoadingMore=!1}}}async loadNew(){let t=this.generation,{turns:e,next:i,total:r}=await this.list({limit:$e});if(t!==this.generation)return;let o=new Set(this.rows.map(c=>c.id)),l=e.filter(c=>!o.has(c.id));l.length===e.length?[this.rows,this.next]=[e,i]:this.rows=[...l,...this.rows],this.total=r??this.rows.length,this.scroller.scrollTop>0&&(await this.updateComplete,this.scroller.scrollTop+=l.length*this.rowHeight)}get firstVisible(){return Math.max(0,Math.floor(this.top/this.rowHeight)-be)}get lastVisible(){let t=Math.ceil((this.top+this.height)/this.rowHeight)+be;return Math.min(t,(this.total??0)-1)}choose(t){let e=Object.entries({...this.filter,...t}).filter(([,r])=>r?.length);this.filter=Object.fromEntries(e);let i=new URLSearchParams(e.map(([r,o])=>[r,String(o)])).toString();O(`/chatterbox/turns${i?`?${i}`:""}`,!0),this.requestUpdate(),this.attempt(()=>this.loadFirst())}render(){let{info:t,texts:e}=this.page,{filter:i,total:r}=this,o=Object.keys(i).filter(c=>c!=="words").length,l=Object.keys(i).length>0;return a`
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
          ${this.text("turns.filter")}${o?a` (${o})`:d}
        </button>
        <div class="row filters" ?data-open=${this.isOpen}>
          ${this.select("person_id","turns.person",t.people)}
          ${this.select("device_id","turns.place",t.places)} ${this.select("agent","turns.agent",t.agents)}
          ${this.day("from")} ${this.day("to")}
          ${xe.map(c=>{let p=!!i.marks?.includes(c),g=p?i.marks?.filter(u=>u!==c):[...i.marks??[],c];return a`<button aria-pressed=${p} @click=${()=>this.choose({marks:g??[]})}>
              ${this.text(`turns.${c}`)}
            </button>`})}
        </div>
        <span class="quiet figure" role="status"
          >${r===void 0?"":this.text("turns.total",{count:e.number(r)})}</span
        >
      </search>
      ${this.failureNote()}
      ${this.alert(this.unreachable.length>0&&this.text("turns.unreachable",{names:this.unreachable.join(", ")}))}
      ${r===0?a`<p class="page quiet">
              ${this.text(l?"turns.none_found":t.keeps_history?"turns.none":"turns.not_stored")}
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
    `}visible(){let[t,e]=[this.firstVisible,this.lastVisible],i=Array.from({length:Math.max(0,e-t+1)},(r,o)=>t+o);return K(i,r=>this.rows[r]?.id??r,r=>{let o=this.rows[r];return ve([o,r,this.rowHeight,this.total],()=>this.row(r,o))})}row(t,e){let i=`height: ${this.rowHeight}px; transform: translateY(${t*this.rowHeight}px)`;if(!e)return a`<div class="turn" style=${i} aria-hidden="true"></div>`;let{texts:r}=this.page,o=r.day(e.at)===r.day(Date.now()/1e3);return a`<div
      class="turn"
      role="listitem"
      style=${i}
      aria-setsize=${this.total??-1}
      aria-posinset=${t+1}
    >
      <div class="when figure">
        ${r.time(e.at)}${o?d:a`<div class="quiet small">${r.day(e.at)}</div>`}
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
      <div class="row marks">${e.marks.map(l=>Pt(l,r))}</div>
      <div class="seconds figure quiet">${r.duration(e.duration_ms)}</div>
    </div>`}select(t,e,i){if(i.length<2)return d;let r=this.filter[t]??"";return a`<select
      aria-label=${this.text(e)}
      @change=${o=>this.choose({[t]:q(o)})}
    >
      <option value="" ?selected=${!r}>${this.text(`${e}_any`)}</option>
      ${i.map(({id:o,name:l})=>a`<option value=${o} ?selected=${o===r}>${l}</option>`)}
    </select>`}day(t){return a`<label class="row"
      >${this.text(`turns.${t}`)}<input
        type="date"
        .value=${this.filter[t]??""}
        @change=${e=>this.choose({[t]:q(e)})}
    /></label>`}type(t){let e=q(t).trim();this.afterTyping(as,()=>this.choose({words:e}))}async move(t){let e=t.key==="ArrowDown"?1:t.key==="ArrowUp"?-1:0,i=t.target.dataset.index;if(!e||i===void 0)return;t.preventDefault();let r=Number(i)+e,[o,l]=[r*this.rowHeight,(r+1)*this.rowHeight];o<this.scroller.scrollTop&&(this.scroller.scrollTop=o),l>this.scroller.scrollTop+this.height&&(this.scroller.scrollTop=l-this.height),this.top=this.scroller.scrollTop,await this.updateComplete,this.renderRoot.querySelector(`a[data-index="${r}"]`)?.focus({preventScroll:!0})}};k.styles=[A,w`
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
      input[type="search"] {
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
    `],h([m()],k.prototype,"rows",2),h([m()],k.prototype,"total",2),h([m()],k.prototype,"unreachable",2),h([m()],k.prototype,"top",2),h([m()],k.prototype,"height",2),h([m()],k.prototype,"rowHeight",2),h([m()],k.prototype,"isOpen",2),h([ne(".scroller")],k.prototype,"scroller",2),k=h([x("chatterbox-turns")],k);function cs(n){let s={};for(let e of ns){let i=n.get(e);i&&(s[e]=i)}let t=xe.filter(e=>n.get("marks")?.split(",").includes(e));return t.length&&(s.marks=t),s}var ye={now:"panel/#now",turns:"panel/#conversations",permissions:"panel/#what-it-may-do","permissions/rules":"permissions/#confirmations",evaluate:"evaluate/#try-a-model"};function ds(n,s){return["language","locale","connection","dockedSidebar"].some(t=>n[t]!==s?.[t])}var C=class extends S{constructor(){super(...arguments);this.narrow=!1;this.ready=()=>{this.open()}}connectedCallback(){super.connectedCallback(),this.hasUpdated&&this.open()}disconnectedCallback(){super.disconnectedCallback(),this.hass.connection.removeEventListener("ready",this.ready)}willUpdate(t){t.has("hass")&&this.open()}async open(){let t=this;this.hass.connection.addEventListener("ready",this.ready);try{let[e,i,{documentation:r}]=await Promise.all([yt.load(this.hass),this.hass.callWS({type:"chatterbox/page"}),this.hass.callWS({type:"manifest/get",integration:"chatterbox"})]);this.page={get hass(){return t.hass},texts:e,info:i,docs:r},this.failure=void 0}catch(e){this.failure=xt(e)}}render(){let{page:t}=this;if(!t)return this.failure?a`<p class="page" role="alert">${this.failure.message}</p>`:d;let[,e="",...i]=(this.route?.path??"").split("/"),r=e||"now",o=i.join("/"),l=r==="evaluate"||r==="turns"&&!!o,c=this.narrow||this.hass.dockedSidebar==="always_hidden",p=a`<nav class="views" aria-label="Chatterbox">
      ${this.tab("now",r)} ${this.tab("turns",r)}
      ${t.info.is_admin?this.tab("permissions",r):d}
    </nav>`;return a`
      <header>
        ${l?this.button("back",t.texts.text("page.back"),()=>this.back(r)):c?this.button("menu",t.texts.text("page.menu"),()=>this.openMenu()):d}
        <h1>Chatterbox</h1>
        ${this.narrow?d:p} ${this.help(t,r,o)}
      </header>
      <main>${this.view(t,r,o)}</main>
      ${this.narrow?p:d}
    `}button(t,e,i){return a`<button class="sign bare" aria-label=${e} title=${e} @click=${i}>${N(t)}</button>`}help({texts:t,docs:e},i,r){let o=t.text("page.help"),l=ye[`${i}/${r}`]??ye[i]??"panel/";return a`<a
      class="sign help"
      href=${e+l}
      target="_blank"
      rel="noreferrer"
      aria-label=${o}
      title=${o}
      >${N("help")}</a
    >`}back(t){history.length>1?history.back():O(t==="turns"?"/chatterbox/turns":"/chatterbox/now",!0)}tab(t,e){return a`<a href="/chatterbox/${t}" aria-current=${t===e?"page":"false"}
      >${N(t)}${this.page?.texts.text(`page.${t}`)}</a
    >`}view(t,e,i){switch(e){case"turns":return i?a`<chatterbox-turn .page=${t} .path=${decodeURIComponent(i)}></chatterbox-turn>`:a`<chatterbox-turns .page=${t}></chatterbox-turns>`;case"permissions":return i==="try"?a`<chatterbox-trying .page=${t}></chatterbox-trying>`:a`<chatterbox-permissions .page=${t} .path=${i}></chatterbox-permissions>`;case"evaluate":return a`<chatterbox-evaluate .page=${t}></chatterbox-evaluate>`;default:return a`<chatterbox-now .page=${t}></chatterbox-now>`}}openMenu(){this.dispatchEvent(new CustomEvent("hass-toggle-menu",{bubbles:!0,composed:!0}))}};C.styles=[A,w`
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
        align-items: center;
        column-gap: 12px;
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
      }
      .help {
        display: grid;
        place-items: center;
        height: 40px;
        margin-inline: auto -8px;
        border-radius: 50%;
      }
      .help:hover {
        background: var(--secondary-background-color);
      }
      .views {
        display: flex;
        align-self: stretch;
        background: var(--card-background-color);
      }
      .views a {
        display: flex;
        align-items: center;
        gap: 8px;
        min-height: 44px;
        padding: 2px 12px 0;
        text-decoration: none;
        border-bottom: 2px solid transparent;
      }
      .views a[aria-current="page"] {
        border-color: var(--primary-color);
        font-weight: 500;
      }
      .views a[aria-current="page"] .icon {
        fill: var(--primary-color);
      }
      :host([narrow]) .views {
        border-top: 1px solid var(--divider-color);
      }
      :host([narrow]) .views a {
        flex: 1 1 0;
        flex-direction: column;
        gap: 0;
        padding: 6px 2px;
        border-bottom: none;
        font-size: 12px;
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
    `],h([_({attribute:!1,hasChanged:ds})],C.prototype,"hass",2),h([_({type:Boolean,reflect:!0})],C.prototype,"narrow",2),h([_({attribute:!1})],C.prototype,"route",2),h([m()],C.prototype,"page",2),h([m()],C.prototype,"failure",2),C=h([x("chatterbox-panel")],C);export{C as ChatterboxPanel};
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
