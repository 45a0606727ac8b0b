#include "simulator/report_page.h"

#include <string_view>

#include <fmt/format.h>

namespace simulator {

namespace {

constexpr std::string_view kStyle = R"css(
:root{--ink:#16202c;--soft:#5b6877;--line:#dfe4ea;--paper:#fff;--page:#f5f7f9;--good:#0b7a4b;
--s0:#64748b;--s1:#b4236b;--s2:#0e8074;--s3:#7a5b12;--s4:#3b4fa8;--s5:#8a3b12;--s6:#2b6cb0}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf1;--soft:#98a5b3;--line:#2c3641;--paper:#171d24;
--page:#0f1419;--good:#4cc38a;--s0:#9aa8b8;--s1:#f06ba8;--s2:#3fc5b4;--s3:#d7ae4a;--s4:#8fa1f5;
--s5:#eb8f5f;--s6:#74b0ee}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI","Noto Sans","Noto Sans CJK SC",sans-serif}
main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}
header{display:flex;justify-content:space-between;align-items:flex-start;gap:20px}
h1{font-size:26px;margin:0 0 4px;letter-spacing:-.01em}
h2{font-size:17px;margin:34px 0 12px}
p{margin:4px 0;color:var(--soft);max-width:76ch}
.lead{color:var(--ink)}
#zh{position:absolute;opacity:0}
.switch{flex:none;cursor:pointer;border:1px solid var(--line);border-radius:6px;padding:4px 12px;
background:var(--paper);font-size:13px}
#zh:focus-visible~main .switch{outline:2px solid var(--s2)}
#zh:not(:checked)~main .zh{display:none}
#zh:checked~main .en{display:none}
.card,figure{background:var(--paper);border:1px solid var(--line);border-radius:10px;margin:0}
.card{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:7px 16px;text-align:right;border-top:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child{text-align:left;white-space:normal;color:var(--soft);font-weight:400}
thead th{border-top:0;font-weight:600;color:var(--ink)}
tr.group td{font-weight:600;color:var(--ink);background:var(--page);font-size:13px}
td.best{color:var(--good);font-weight:600}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(440px,1fr));gap:14px}
@media (max-width:520px){.charts{grid-template-columns:1fr}header{flex-direction:column}}
figure{padding:14px 16px 8px;min-width:0;position:relative}
figcaption{font-weight:600;font-size:14px;margin-bottom:6px}
figcaption small{color:var(--soft);font-weight:400;margin-left:4px}
svg{width:100%;height:auto;display:block;overflow:visible}
svg text{fill:var(--soft);font-size:12px}
.grid{stroke:var(--line);stroke-width:1}
.axis{stroke:var(--soft);stroke-width:1}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}
.cursor{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 3;visibility:hidden}
.s0{stroke:var(--s0)}.s1{stroke:var(--s1)}.s2{stroke:var(--s2)}.s3{stroke:var(--s3)}
.s4{stroke:var(--s4)}.s5{stroke:var(--s5)}.s6{stroke:var(--s6)}
.span line{stroke-width:3;opacity:.45}
.span.s0 circle{fill:var(--s0)}.span.s1 circle{fill:var(--s1)}.span.s2 circle{fill:var(--s2)}
.span.s3 circle{fill:var(--s3)}.span.s4 circle{fill:var(--s4)}.span.s5 circle{fill:var(--s5)}
.span circle.hollow{fill:var(--paper);stroke-width:2}
.bar{fill:var(--s2);opacity:.75}
.entitled{stroke:var(--ink);stroke-width:2.5}
.promised{stroke:var(--s1);stroke-width:2.5}
.key{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0 0 10px;color:var(--soft);font-size:13px}
.key i{display:inline-block;width:18px;height:0;border-top:3px solid;margin-right:6px;
vertical-align:middle}
.tip{position:absolute;pointer-events:none;background:var(--ink);color:var(--paper);font-size:12px;
padding:4px 8px;border-radius:5px;white-space:pre;display:none;font-variant-numeric:tabular-nums}
code{font:12px ui-monospace,"DejaVu Sans Mono",monospace;word-break:break-all}
)css";

// Shows the values of all lines under the pointer.
constexpr std::string_view kScript = R"js(
for(const s of document.querySelectorAll('svg.lines')){
const d=JSON.parse(s.dataset.points),u=s.dataset.unit,c=s.querySelector('.cursor'),
t=document.createElement('div');t.className='tip';s.parentNode.append(t);
s.addEventListener('pointermove',e=>{const r=s.getBoundingClientRect(),
w=s.viewBox.baseVal.width,x=(e.clientX-r.left)*w/r.width;let at=null;const out=[];
for(const l of d){let b=-1;for(let i=1;i<l.length;i+=2)
if(b<0||Math.abs(l[i]-x)<Math.abs(l[b]-x))b=i;
if(b>0){at=l[b];out.push(l[0]+'  '+l[b+1].toLocaleString()+u)}}
if(at===null)return;c.setAttribute('x1',at);c.setAttribute('x2',at);c.style.visibility='visible';t.textContent=out.join('\n');
t.style.display='block';t.style.top='36px';
const left=at*r.width/w+28;
t.style.left=(left+t.offsetWidth>r.width?left-t.offsetWidth-36:left)+'px'});
s.addEventListener('pointerleave',()=>{t.style.display='none';c.style.visibility='hidden'})}
)js";

}  // namespace

std::string page_begin(const Words& title, const Words& lead) {
  return fmt::format(
      "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
      "<meta name='viewport' content='width=device-width,initial-scale=1'>"
      "<meta name='color-scheme' content='light dark'><title>{}</title><style>{}</style></head>"
      "<body><input type='checkbox' id='zh' aria-label='中文'><main><header><div><h1>{}</h1>"
      "<p class='lead'>{}</p></div><label class='switch' for='zh'><span class='en'>中文</span>"
      "<span class='zh'>English</span></label></header>",
      html_escape(title.english), kStyle, html_words(title), html_words(lead));
}

std::string page_end() {
  return fmt::format("</main><script>{}</script></body></html>\n", kScript);
}

}  // namespace simulator
