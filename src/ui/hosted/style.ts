import { type Brand, type Palette, SURFACES } from './brand.ts'

/** The style sheet of the hosted pages. Text has 13, 14, 15, 16, 18 or 22 px here, in the booking pages and in the widget. The only values inserted are parsed hex colours. */
export function styleSheet(brand: Brand): string {
  return `:root{color-scheme:light;${LIGHT}${accents(brand.light)}}
@media (prefers-color-scheme:dark){:root{color-scheme:dark;${DARK}${accents(brand.dark)}}}
${RULES}`
}

function accents(palette: Palette): string {
  return `--accent:${palette.accent};--accent-hover:${palette.accentHover};--accent-edge:${palette.accentEdge};--on-accent:${palette.onAccent};--accent-text:${palette.accentText};--ring:${palette.ring};--tint:${palette.tint}`
}

const LIGHT = `--page:${SURFACES.light.page};--card:${SURFACES.light.card};--ink:#14171c;--soft:#565f6d;--line:#e2e5ea;--edge:#868f9c;--field:#fff;--danger:#b42318;--danger-tint:#fef3f2;--danger-line:#f3c4bf;--good:#12694a;--good-tint:#e8f6f0;--shadow:0 1px 2px rgb(16 24 40/.05),0 12px 32px -12px rgb(16 24 40/.14);`
const DARK = `--page:${SURFACES.dark.page};--card:${SURFACES.dark.card};--ink:#eceef2;--soft:#a2abb8;--line:#282d35;--edge:#717b89;--field:#0f1216;--danger:#ff9a90;--danger-tint:#2c1715;--danger-line:#5c2a26;--good:#67d3a5;--good-tint:#12281f;--shadow:0 1px 2px rgb(0 0 0/.4),0 16px 40px -16px rgb(0 0 0/.6);`

const RULES = `
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;background:var(--page);color:var(--ink);
  font:400 15px/1.5 -apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;-webkit-font-smoothing:antialiased}
main{width:100%;max-width:456px;margin:auto;padding:40px 16px 24px}
:lang(ja){word-break:auto-phrase}
.card{background:var(--card);border:1px solid var(--line);border-radius:16px;box-shadow:var(--shadow);padding:36px}
.brand{display:flex;align-items:center;gap:10px;min-height:32px;margin:0 0 28px;font-weight:600;letter-spacing:-.005em;overflow-wrap:anywhere}
.brand img{display:block;max-height:32px;max-width:180px}
.tile{display:grid;place-items:center;flex:none;width:36px;height:36px;border-radius:10px;background:var(--tint);color:var(--accent-text)}
.tile svg{width:20px;height:20px}
h1{margin:0;font-size:22px;line-height:1.25;font-weight:650;letter-spacing:-.018em;text-wrap:balance;overflow-wrap:anywhere}
.lead{margin:8px 0 0;color:var(--soft);text-wrap:pretty;overflow-wrap:anywhere}
form{margin:26px 0 0}
a{color:var(--accent-text);text-underline-offset:3px;text-decoration-thickness:1px}
a:hover{text-decoration-thickness:2px}
.field{margin:0 0 18px}
label,legend{display:block;padding:0;margin:0 0 6px;font-size:14px;font-weight:550;color:var(--ink)}
.optional{font-weight:400;color:var(--soft)}
input,select{display:block;width:100%;height:44px;padding:0 12px;border:1px solid var(--edge);border-radius:10px;background:var(--field);color:var(--ink);font:inherit;font-size:16px;transition:border-color .12s,box-shadow .12s}
select{appearance:none;padding-inline-end:38px;text-overflow:ellipsis}
.select{position:relative}
.select::after{content:"";position:absolute;inset-inline-end:16px;top:16px;width:8px;height:8px;border:solid var(--soft);border-width:0 1.75px 1.75px 0;transform:rotate(45deg);pointer-events:none}
option{color:var(--ink);background:var(--field)}
textarea{display:block;width:100%;min-height:92px;padding:9px 12px;border:1px solid var(--edge);border-radius:10px;background:var(--field);color:var(--ink);font:inherit;font-size:16px;resize:vertical}
textarea:hover{border-color:var(--soft)}
input::placeholder,textarea::placeholder{color:var(--soft);opacity:1}
input:hover,select:hover{border-color:var(--soft)}
:focus-visible{outline:2px solid var(--ring);outline-offset:2px}
input:focus-visible,select:focus-visible,textarea:focus-visible{outline-offset:-1px;border-color:var(--ring);box-shadow:0 0 0 4px var(--tint)}
[aria-invalid=true],[aria-invalid=true]:hover{border-color:var(--danger);box-shadow:inset 0 0 0 1px var(--danger)}
[aria-invalid=true]:focus-visible{outline-color:var(--danger);border-color:var(--danger);box-shadow:0 0 0 4px var(--danger-tint)}
input::-webkit-calendar-picker-indicator{display:none!important}
input:-webkit-autofill{-webkit-text-fill-color:var(--ink);-webkit-box-shadow:0 0 0 60px var(--field) inset}
.hint,.error{margin:6px 0 0;font-size:13px;line-height:1.45;overflow-wrap:anywhere}
.hint{color:var(--soft)}
.error{display:flex;gap:6px;color:var(--danger);font-weight:500}
.error svg{flex:none;width:17px;height:17px;margin-top:1px}
.row{display:grid;grid-template-columns:minmax(0,1fr) 104px;gap:0 12px}
.secret{position:relative}
.secret input{padding-right:94px;text-overflow:ellipsis}
.secret input::-ms-reveal{display:none}
.reveal{position:absolute;right:5px;top:5px;height:34px;padding:0 10px;border:0;border-radius:7px;background:none;color:var(--accent-text);font:inherit;font-size:13px;font-weight:550;cursor:pointer}
.reveal:hover{background:var(--tint)}
.check{display:grid;grid-template-columns:20px minmax(0,1fr);gap:2px 10px;align-items:start}
.check input{width:18px;height:18px;margin:2px 0 0;accent-color:var(--ring);border-radius:5px}
.check label{margin:0;font-weight:450}
.check .hint{grid-column:2;margin:0}
.button{display:flex;align-items:center;justify-content:center;gap:8px;width:100%;min-height:46px;padding:8px 18px;border:1px solid transparent;border-radius:10px;font:inherit;font-size:15px;font-weight:600;text-align:center;text-decoration:none;cursor:pointer;transition:background-color .12s,border-color .12s}
.button+.button{margin-top:10px}
.primary{background:var(--accent);border-color:var(--accent-edge);color:var(--on-accent)}
.primary:hover{background:var(--accent-hover)}
.secondary{background:transparent;border-color:var(--edge);color:var(--ink)}
.secondary:hover{border-color:var(--soft);background:var(--page)}
.button svg{width:18px;height:18px;flex:none}
.button[disabled]{cursor:progress;opacity:.75}
.busy::before{content:"";width:16px;height:16px;flex:none;border-radius:50%;border:2px solid currentColor;border-right-color:transparent;animation:spin .7s linear infinite}
@keyframes spin{to{transform:rotate(1turn)}}
.status{min-height:0;margin:10px 0 0;font-size:13px;color:var(--soft);text-align:center}
.status:empty{display:none}
.divider{display:flex;align-items:center;gap:12px;margin:20px 0;color:var(--soft);font-size:13px}
.divider::before,.divider::after{content:"";flex:1;height:1px;background:var(--line)}
.note,.alert{margin:20px 0 0;padding:12px 14px;border-radius:10px;font-size:14px;line-height:1.5;overflow-wrap:anywhere}
.note{background:var(--tint)}
.alert{display:grid;grid-template-columns:20px minmax(0,1fr);gap:10px;background:var(--danger-tint);border:1px solid var(--danger-line)}
.alert svg{width:20px;height:20px;color:var(--danger);margin-top:1px}
.alert h2{margin:0;font-size:14px;font-weight:600;line-height:1.5}
.alert p{margin:2px 0 0}
.alert ul{margin:4px 0 0;padding:0;padding-inline-start:18px}
.alert li{padding:2px 0}
.alert a{color:var(--danger)}
.identity{display:flex;gap:12px;align-items:center;margin:22px 0 0;padding:12px 14px;border:1px solid var(--line);border-radius:12px}
.identity>div{min-width:0}
.identity p{margin:0;overflow-wrap:anywhere}
.identity .server{display:flex;flex-wrap:wrap;gap:0 8px;align-items:center;font-size:13px;line-height:1.4;color:var(--soft)}
.identity .link{padding:3px 0}
.identity+form{margin-top:20px}
.initial{font-size:18px;font-weight:650;line-height:1}
.button .initial{width:18px;font-size:15px}
.grants{margin:18px 0 0;font-size:14px}
.grants p{margin:0;font-weight:550}
.grants ul{list-style:none;margin:6px 0 0;padding:0;color:var(--soft)}
.grants li{display:grid;grid-template-columns:18px minmax(0,1fr);gap:8px;padding:2px 0}
.grants ul+p{margin-top:12px}
.grants svg{width:18px;height:18px;margin-top:1px;color:var(--good)}
.grants+form{margin-top:22px}
.guide ol{margin:0 0 14px;padding:0;padding-inline-start:22px;font-size:14px}
.guide li{margin:6px 0;padding-inline-start:2px;overflow-wrap:anywhere}
.guide b{font-weight:600}
.guide a{overflow-wrap:anywhere}
form>.note:first-of-type{margin-top:0}
.note+.guide{margin-top:6px;border-top:0}
.note+.field{margin-top:18px}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.action{margin:22px 0 0}
.action+.action,form+.action{margin-top:10px}
.link{padding:6px 0;border:0;background:none;color:var(--accent-text);font:inherit;text-decoration:underline;text-decoration-thickness:1px;text-underline-offset:3px;cursor:pointer}
.link:hover{text-decoration-thickness:2px}
.ways .link{display:inline-flex;align-items:center;gap:6px;padding:8px 0;font-size:14px}
.ways .link svg{width:16px;height:16px}
details{margin:0 0 18px;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
.more:not([open])~.later{display:none}
summary{display:flex;align-items:center;gap:8px;min-height:48px;font-size:14px;font-weight:550;cursor:pointer;list-style:none;border-radius:8px}
summary::-webkit-details-marker{display:none}
summary svg{flex:none;width:16px;height:16px;color:var(--soft);transition:transform .12s}
[dir=rtl] :is(summary,.ways,.arrow,.links) svg{transform:scaleX(-1)}
details[open]>summary svg,[dir=rtl] details[open]>summary svg{transform:rotate(90deg)}
summary+.field,summary+input+.field{margin-top:6px}
fieldset{min-width:0;margin:0;padding:8px 0 6px;border:0}
legend{width:100%;margin:0 0 10px;font-size:16px;font-weight:650}
fieldset+fieldset>legend{padding-top:22px;border-top:1px solid var(--line)}
fieldset>.hint{margin:-6px 0 16px}
.ways{display:flex;flex-wrap:wrap;gap:4px 20px;justify-content:center;margin-top:16px}
.cancel{display:inline-flex;align-items:center;gap:6px;padding:8px 0;font-size:14px}
form+.cancel{display:flex;justify-content:center;margin-top:12px}
.centred{text-align:center}
.centred .brand{justify-content:center}
.badge{display:grid;place-items:center;width:56px;height:56px;margin:4px auto 20px;border-radius:50%;background:var(--tint);color:var(--accent-text)}
.badge svg{width:26px;height:26px}
main .brand+.badge{margin-top:-4px}
.badge.good{background:var(--good-tint);color:var(--good)}
.badge.bad{background:var(--danger-tint);color:var(--danger)}
.centred .small{display:flex;flex-wrap:wrap;justify-content:center;gap:0 12px}
.centred .button{margin-top:26px}
.centred .button+.button{margin-top:10px}
.address{font-weight:600;color:var(--ink);overflow-wrap:anywhere}
.small{margin:22px 0 0;font-size:13px;color:var(--soft);overflow-wrap:anywhere}
ul.links{list-style:none;margin:24px 0 -14px;padding:0}
ul.links a{display:flex;align-items:center;justify-content:space-between;gap:16px;min-height:48px;padding:11px 0;border-top:1px solid var(--line);font-weight:600;text-decoration:none}
ul.links a:hover>span>span{text-decoration:underline}
ul.links small{display:block;font-size:13px;font-weight:400;color:var(--soft)}
ul.links svg{flex:none;width:16px;height:16px;color:var(--soft)}
footer{max-width:456px;width:100%;margin:0 auto;padding:0 28px 32px;display:flex;flex-wrap:wrap;gap:6px 18px;align-items:flex-start;justify-content:center;font-size:13px;line-height:1.5;color:var(--soft);text-align:center}
footer p{margin:0;text-wrap:balance}
footer .links{display:flex;gap:6px 18px}
footer svg{display:inline-block;width:14px;height:14px;margin:0 0 -2px;margin-inline-end:5px}
@media (max-width:440px){main{padding:16px 12px 20px}.row{grid-template-columns:minmax(0,1fr) 84px}.row:has(.error){grid-template-columns:minmax(0,1fr)}.card{padding:24px 20px;border-radius:14px}.brand{margin-bottom:22px}}
@media (prefers-reduced-motion:reduce){*{transition:none!important}.busy::before{animation-duration:2.8s}}
@media (forced-colors:active){.button,.tile,.badge{border:1px solid ButtonText}}
`
