import { type Html, html, trustedHtml } from '../../platform/formats/html.ts'
import { hornFavicon, hornIcon } from '../../ui/hosted/index.ts'
import type { DemoMailbox } from '../mailbox.ts'
import type { DemoService } from '../service.ts'
import type { Step, Story } from '../story.ts'

interface PageContent {
  service: Pick<DemoService, 'url'>
  mailbox: DemoMailbox
  story: Story
}

/** The page of the application. Its script fills in what changes; every part of it is text, never markup. */
export function applicationPage({ service, mailbox, story }: PageContent): Html {
  const body = html`<header>
<p class="brand">${MARK}<span>Posthorn <span class="soft">demo</span></span></p>
<nav aria-label="Service"><form method="post" action="/portal" target="_blank"><button class="link">Admin portal</button></form><a href="${service.url}/docs">Documentation</a><a href="${service.url}/health">Health</a></nav>
</header>
<main>
<div class="guide">
<h1>Connect a mailbox, and watch its messages arrive</h1>
<p class="lead">This page is a small application. Posthorn runs beside it with ${mailbox.host}, all on this machine. Nothing remains after you stop the demo.</p>
<p id="notice" class="notice" hidden></p>
<ol class="steps">${story.steps.map((step) => stepItem(step, mailbox))}</ol>
</div>
<div class="screens">
<section class="card" aria-labelledby="inbox-title">
<h2 id="inbox-title">Inbox <span id="inbox-user" class="soft"></span></h2>
<p id="inbox-empty" class="empty">No mailbox is connected yet. Its messages appear here, and new ones as they arrive.</p>
<ul id="inbox" class="messages"></ul>
<p id="inbox-total" class="small" hidden></p>
</section>
<section class="card" aria-labelledby="webhooks-title">
<h2 id="webhooks-title">Webhooks <span id="webhooks-count" class="soft"></span></h2>
<p id="webhooks-empty" class="empty">Each webhook appears here once its signature is verified. Open one to read it.</p>
<ul id="webhooks" class="webhooks"></ul>
</section>
</div>
</main>
<p id="announcement" class="hidden" role="status"></p>
<p id="offline" class="offline" role="alert" hidden>The demo has stopped. Start it again with <code>npm run demo</code>.</p>
<noscript><p class="offline">This page needs JavaScript to show what arrives. The terminal prints the same steps.</p></noscript>`
  return document('Posthorn demo', body)
}

function stepItem({ id, title }: Step, mailbox: DemoMailbox): Html {
  return html`<li class="step" id="step-${id}" data-status="waiting">
<h2>${title} <span class="state hidden">(waiting)</span><span class="took soft"></span></h2>
${id === 'connect' && action('/connect', 'Connect a mailbox', connectHint(mailbox))}
${id === 'receive' && action('/send', 'Send me a message', 'Delivers a message to the mailbox, as if somebody had written to you.')}
${id === 'book' && action('/book', 'Open the booking page', 'Opens Posthorn’s page for guests in another tab. Book any time there.', '_blank')}
<ul class="lines"></ul>
<details class="curl" hidden><summary>curl</summary><div class="code"><button class="copy" type="button">Copy<span class="hidden"> the curl command</span></button><pre tabindex="0"></pre></div></details>
</li>`
}

function action(path: string, label: string, hint: Html | string, target = '_self'): Html {
  return html`<form method="post" action="${path}" target="${target}" class="action"><button class="button primary" disabled>${label}</button><p class="small">${hint}</p></form>`
}

function connectHint({ user, host, signIn }: DemoMailbox): Html {
  return signIn === undefined
    ? html`Opens Posthorn&rsquo;s hosted pages, then the consent page of ${host}. Choose ${user} there.`
    : html`Opens Posthorn&rsquo;s hosted pages for ${user}. The password is <code>${signIn.password}</code>.`
}

/** The style sheet and the script are files of their own, so that the policy allows nothing inline. */
function document(title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${hornFavicon()}">
<link rel="stylesheet" href="/page.css">
<link rel="stylesheet" href="/arrivals.css">
<script src="/page.js" defer></script>
</head>
<body>
${body}
</body>
</html>
`
}

const MARK = html`<span class="tile">${trustedHtml(hornIcon())}</span>`
