// The frame of every page: header with search, navigation, content, and what is on the page.
import { html, trustedHtml } from './html.mjs'
import { importSource } from './source.mjs'

const { hornFavicon, hornIcon } = await importSource('src/ui/hosted/mark.ts')

/**
 * @param {object} page `{ path, title, content, headings, edit, isWide, current }`
 * @param {object} site `{ groups, href, file, serviceHref }`: the navigation, and relative addresses from this page
 */
export function frame(page, { groups, href, file, serviceHref, editHref }) {
  const isHome = page.path === ''
  const contents = page.headings.filter(({ level }) => level === 2 || level === 3)
  const hasContents = !page.isWide && contents.length > 2
  return html`<!doctype html>
<html lang="en" data-search="${file('search.json')}"${serviceHref && html` data-service="${serviceHref}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${isHome ? 'Posthorn documentation' : `${page.title} · Posthorn`}</title>
<link rel="icon" href="${hornFavicon()}">
<link rel="stylesheet" href="${file('docs.css')}">
<script type="module" src="${file('docs.js')}"></script>
</head>
<body>
<a class="skip" href="#page-content">Skip to the content</a>
<header class="top">
<a class="brand" href="${href('')}" aria-label="Posthorn Docs">${trustedHtml(hornIcon())}<span>Posthorn <span class="quiet">Docs</span></span></a>
<search class="search" hidden><label class="hidden" for="page-search">Search the documentation</label><input id="page-search" type="search" placeholder="Search" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd><div class="results" hidden><p class="hidden" role="status"></p><ol></ol></div></search>
<a class="menu-link" href="#page-menu">Menu</a>
</header>
<div class="body">
<nav id="page-menu" aria-label="Documentation"><a class="close" href="#page-content">Close</a>${groups.map((group) => navigationGroup(group, page, href))}</nav>
<main id="page-content" tabindex="-1"${page.isWide && html` class="wide"`}>
<h1>${page.title}</h1>
${page.content}
${editHref && html`<p class="edit"><a href="${editHref}">Edit this page</a></p>`}</main>
${
  hasContents &&
  html`<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${contents.map(
    ({ id, text, level }) => html`<li class="level-${level}"><a href="#${id}">${text}</a></li>`,
  )}</ul></nav>`
}
</div>
</body>
</html>
`.toString()
}

function navigationGroup({ name, pages }, page, href) {
  return html`<p class="group">${name}</p><ul>${pages.map(({ path, title, shortTitle = title, parts = [] }) => {
    const isCurrent = path === page.path
    return html`<li><a href="${href(path)}"${isCurrent && html` aria-current="page"`}>${shortTitle}</a>${
      isCurrent &&
      parts.length > 0 &&
      html`<ul class="parts">${parts.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>`
    }</li>`
  })}</ul>`
}
