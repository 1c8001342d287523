// Writes the documentation: the guides of `docs` and the API reference, in one frame, as files that the service or any web server sends.
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { build } from 'esbuild'
import { writeServed } from '../served.mjs'
import { errorsPage } from './errors.mjs'
import { frame } from './frame.mjs'
import { guideGroups, SHORT_TITLES } from './guides.mjs'
import { homeContent, overviewContent } from './home.mjs'
import { html } from './html.mjs'
import { renderMarkdown } from './markdown.mjs'
import { breakable, operationRenderer, operationsOf } from './operations.mjs'
import { searchIndex } from './search-index.mjs'

const GUIDES = 'docs'
const DECISIONS = 'docs/decisions'
const SOURCES = 'src/ui/docs'
const DOCUMENT = 'openapi.json'
/** The browsers of the portal. */
const TARGET = ['chrome123', 'firefox120', 'safari17.5']

/**
 * @param {string} folder where the files are written
 * @param {{ isStatic?: boolean }} options static pages have addresses that end in .html, and no service beside them
 */
export async function writeDocs(folder, { isStatic = false } = {}) {
  const { pages, groups, repository } = await allPages(isStatic)
  const files = new Map()
  for (const page of pages) {
    const href = (path) => relativeAddress(page.path, path, isStatic)
    const editHref = repository && page.source && `${repository}/edit/main/${page.source}`
    const text = frame(page, {
      groups,
      href,
      file: (name) => relativeFile(page.path, name, isStatic),
      serviceHref: isStatic ? undefined : serviceAddress(page.path),
      editHref,
    })
    files.set(page.path === '' ? 'index.html' : `${page.path}.html`, text)
  }
  for (const name of imagesOf(pages)) files.set(name, await readFile(join(GUIDES, name)))
  for (const [name, text] of await assets()) files.set(name, text)
  files.set('search.json', searchIndex(pages))
  files.set('LICENSES.txt', `minisearch\n\n${await readFile('node_modules/minisearch/LICENSE.txt', 'utf8')}`)
  files.set(DOCUMENT, await servedDocument(isStatic))
  await mkdir(folder, { recursive: true })
  for (const [name, content] of files) {
    await mkdir(join(folder, dirname(name)), { recursive: true })
    await writeServed(join(folder, name), content)
  }
  await writeServed(join(folder, 'manifest.json'), JSON.stringify([...files.keys()]))
}

/** Every page, in the order of the navigation. */
async function allPages(isStatic) {
  const document = JSON.parse(await readFile(DOCUMENT, 'utf8'))
  const repository = await repositoryUrl()
  const names = guideGroups(GUIDES)
  const decisions = readdirSync(DECISIONS).sort()
  const paths = new Set([
    '',
    'errors',
    'api',
    ...names.flatMap(({ guides }) => guides),
    ...decisions.map((name) => `decisions/${withoutEnd(name)}`),
    ...document.tags.map(({ name }) => tagPath(name)),
  ])
  const linkFrom = (path, source) => (href) => pageLink({ href, path, source, paths, isStatic, repository })

  async function guide(path, file) {
    const rendered = renderMarkdown(await readFile(file, 'utf8'), linkFrom(path, file))
    return { path, kind: 'Guide', source: file, shortTitle: SHORT_TITLES[path], ...rendered }
  }

  const guides = new Map()
  for (const name of names.flatMap((group) => group.guides)) {
    if (name !== 'decisions') guides.set(name, await guide(name, `${GUIDES}/${name}.md`))
  }
  const decisionPages = []
  for (const name of decisions) {
    const page = await guide(`decisions/${withoutEnd(name)}`, `${DECISIONS}/${name}`)
    decisionPages.push({ ...page, isSearched: false })
  }
  guides.set('decisions', decisionList(decisionPages, isStatic))
  const errors = {
    path: 'errors',
    kind: 'Reference',
    ...errorsPage(await readFile(`${GUIDES}/errors.md`, 'utf8'), linkFrom('errors', `${GUIDES}/errors.md`)),
  }
  const overview = {
    path: 'api',
    kind: 'Reference',
    ...overviewContent(document, linkFrom('api', DOCUMENT), relativeFile('api', DOCUMENT, isStatic), (tag) =>
      relativeAddress('api', tagPath(tag), isStatic),
    ),
  }
  const tags = document.tags.map((tag) => tagPage(document, tag, linkFrom(tagPath(tag.name), DOCUMENT), isStatic))
  const [build, ...others] = names.map(({ name, guides: listed }) => ({
    name,
    pages: listed.map((path) => guides.get(path)),
  }))
  for (const { name, pages } of others) for (const page of pages) page.kind = name
  const groups = [build, { name: 'API reference', pages: [overview, ...tags, errors] }, ...others]
  const home = { path: '', kind: 'Guide', ...homeContent(groups, (path) => relativeAddress('', path, isStatic)) }
  return { groups, repository, pages: [home, ...guides.values(), ...decisionPages, overview, ...tags, errors] }
}

function tagPage(document, { name, description }, link, isStatic) {
  const path = tagPath(name)
  const entries = operationsOf(document, name)
  const render = operationRenderer(document, link, (code) => `${relativeAddress(path, 'errors', isStatic)}#${code}`)
  const parts = entries.map(({ id, operation }) => ({ id, text: operation.summary }))
  const list = entries.map(
    ({ id, method, path: address, operation }) =>
      html`<li><span class="method ${method.toLowerCase()}">${method}</span> <a href="#${id}">${operation.summary}</a> <code>${breakable(address)}</code></li>`,
  )
  return {
    path,
    kind: 'Reference',
    title: name,
    isWide: true,
    parts,
    headings: [],
    content: html`<p class="lead">${description}</p><ul class="operations">${list}</ul>${entries.map(render)}`,
    sections: [
      { id: '', text: description },
      ...entries.map(({ id, method, path: address, operation }) => ({
        id,
        heading: operation.summary,
        text: `${method} ${address} ${id} ${operation.description ?? ''}`,
      })),
    ],
  }
}

function decisionList(pages, isStatic) {
  const items = pages.map(
    ({ path, title }) => html`<li><a href="${relativeAddress('decisions', path, isStatic)}">${title}</a></li>`,
  )
  const content = html`<p>Why the service works as it does, where the specification leaves it open.</p><ul>${items}</ul>`
  const sections = [{ id: '', text: pages.map(({ title }) => title).join(' ') }]
  return { path: 'decisions', kind: 'Guide', title: 'Decisions', content, headings: [], sections }
}

/** The address of a link in a guide. Files that are no page lead to the repository, if its address is known. */
function pageLink({ href, path, source, paths, isStatic, repository }) {
  if (/^(https?:|mailto:)/.test(href)) return documentationLink(href, path, isStatic) ?? href
  const [, tag, operation] = /^#tag\/([^/]+)(?:\/operation\/(.+))?$/.exec(href) ?? []
  if (tag !== undefined) {
    const target = relativeAddress(path, tagPath(tag.replaceAll('-', ' ')), isStatic)
    return operation === undefined ? target : `${target}#${operation}`
  }
  if (href.startsWith('#')) return href
  const [file = '', hash] = href.split('#')
  const target = posix.join(posix.dirname(source), file)
  const page = target.replace(/^docs\//, '').replace(/(\.md|\/)$/, '')
  const end = hash === undefined ? '' : `#${hash}`
  if (target.startsWith('docs/') && paths.has(page)) return relativeAddress(path, page, isStatic) + end
  if (target.startsWith('docs/images/')) return relativeFile(path, target.slice('docs/'.length), isStatic)
  if (!existsSync(target)) throw new Error(`${source} links to ${href}, which does not exist.`)
  return repository && `${repository}/blob/main/${target}${end}`
}

/** Links to the documentation of a local service stay in this one. */
function documentationLink(href, path, isStatic) {
  const [, page, hash = ''] = /^http:\/\/localhost:8080\/docs\/([\w/-]+)(#.*)?$/.exec(href) ?? []
  return page === undefined ? undefined : relativeAddress(path, page, isStatic) + hash
}

const tagPath = (name) => `api/${name.toLowerCase().replaceAll(' ', '-')}`
const withoutEnd = (name) => name.replace(/\.md$/, '')

/** Pages are at `/docs` and `/docs/<path>` of a service, and at `index.html` and `<path>.html` as files. */
function relativeAddress(from, to, isStatic) {
  return relativeFile(from, isStatic ? `${to === '' ? 'index' : to}.html` : to, isStatic)
}

/** The address of a file beside the first page of the files, or below `/docs`. Never ends in a slash. */
function relativeFile(from, to, isStatic) {
  const folder = posix.dirname(posix.join('/site/docs', isStatic && from === '' ? 'index' : from))
  const target = posix.join('/site/docs', to)
  return posix.join(posix.relative(folder, posix.dirname(target)), posix.basename(target))
}

/** The address of the service from a page of its documentation. */
function serviceAddress(from) {
  return posix.relative(posix.dirname(posix.join('/docs', from)), '/') || '.'
}

/** The images of guides that are shown. */
function imagesOf(pages) {
  const all = pages.flatMap(({ content }) => [...content.toString().matchAll(/<img src="[^"]*?(images\/[^"]+)"/g)])
  return new Set(all.map(([, name]) => name))
}

/** Without the address in package.json, the environment may name it. */
async function repositoryUrl() {
  const { repository } = JSON.parse(await readFile('package.json', 'utf8'))
  const url = process.env.DOCS_REPOSITORY_URL ?? (typeof repository === 'string' ? repository : repository?.url)
  return url?.replace(/^git\+/, '').replace(/(\.git|\/)$/, '')
}

/** Its server is relative to the document, so that it is right at every PUBLIC_URL. Without spaces it has half the size. */
async function servedDocument(isStatic) {
  const text = await readFile(DOCUMENT, 'utf8')
  return isStatic ? text : `${JSON.stringify({ ...JSON.parse(text), servers: [{ url: '.' }] })}\n`
}

/** The style sheet and the script of every page, and the search, which is loaded when somebody searches. */
async function assets() {
  const options = { bundle: true, minify: true, format: 'esm', target: TARGET, write: false, legalComments: 'none' }
  const names = ['docs.css', 'docs.js', 'search.js']
  const results = await Promise.all(
    names.map((name) => build({ ...options, entryPoints: [`${SOURCES}/${name}`], external: ['./search.js'] })),
  )
  return names.map((name, index) => [name, results[index].outputFiles[0].text])
}
