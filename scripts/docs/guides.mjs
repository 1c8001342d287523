// The guides of the site, in the order of the navigation. A file of `docs` must be in one of the groups.
import { readdirSync } from 'node:fs'

const GROUPS = [
  {
    name: 'Build',
    guides: [
      'connecting',
      'messages',
      'sending',
      'calendars',
      'contacts',
      'webhooks',
      'events',
      'scheduler',
      'embedding',
      'sdk',
      'mcp',
    ],
  },
  { name: 'Move here', guides: ['comparison', 'from-nylas', 'from-emailengine'] },
  {
    name: 'Operate',
    guides: [
      'production',
      'settings',
      'operations',
      'scaling',
      'providers',
      'admin',
      'security',
      'performance',
      'versioning',
    ],
  },
  { name: 'Project', guides: ['glossary', 'specification', 'mail', 'design', 'contributing', 'style', 'decisions'] },
]

/** Names in the navigation, where the title is too long for it. */
export const SHORT_TITLES = {
  embedding: 'Embedding the booking page',
  mcp: 'Language models (MCP)',
  sdk: 'TypeScript SDK',
  specification: 'Specification',
  providers: 'Providers',
}

/** Has a page of its own form. */
const ERRORS = 'errors'

/** @returns the groups with the guides that exist. Throws for a file without a group. */
export function guideGroups(folder) {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
  const grouped = [...GROUPS.flatMap(({ guides }) => guides), ERRORS]
  const missing = names.filter((name) => !grouped.includes(name))
  if (missing.length > 0) throw new Error(`Add ${missing.join(', ')} to a group in scripts/docs/guides.mjs.`)
  const exists = (name) => names.includes(name) || name === 'decisions'
  return GROUPS.map(({ name, guides }) => ({ name, guides: guides.filter(exists) }))
}
