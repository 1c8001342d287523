// `docs/events.md`, from the catalogue of events.
import { ENTRIES, EVENT_TYPES, eventSchema, sampleBody } from '../../src/events/index.ts'

/** Headings, and which types stand below them: those that begin so. */
const SECTIONS = [
  ['Messages', 'message.'],
  ['Folders', 'mailbox.'],
  ['Drafts', 'draft.'],
  ['Accounts', 'account.'],
  ['Historical synchronisation', 'sync.'],
  ['Calendars', 'calendar.'],
  ['Bookings', 'booking.'],
  ['Webhooks', 'webhook.'],
]

export function eventsPage() {
  const lines = [
    '# Events',
    '',
    'Generated from `src/events/catalogue/` by `npm run generate`. The same as JSON Schema, with an example of each type, is in the',
    '`webhooks` of `/openapi.json`. How they are signed and delivered: [webhooks.md](webhooks.md).',
    '',
    'An endpoint subscribes to types, to prefixes (`message.*`), or to all (`*`). New members may be added to any object: ignore those',
    'you do not know.',
    '',
    ...list(EVENT_TYPES.map((type) => `[\`${type}\`](#${anchor(sectionOf(type)[0])}): ${ENTRIES[type].about}`)),
    '',
    '## Every event',
    '',
    ...table(eventSchema),
    '',
    'A webhook has two members before these: `deliveryId` (the delivery: one event to one endpoint) and `test` (true when somebody sent',
    'it by hand).',
  ]
  for (const section of SECTIONS) lines.push(...describeSection(section))
  return `${lines.join('\n')}\n`
}

/** One part for all types that share the shape of their data. */
function describeSection([heading, prefix]) {
  const shapes = new Map()
  for (const type of EVENT_TYPES.filter((type) => type.startsWith(prefix))) {
    const { title } = ENTRIES[type].data
    shapes.set(title, [...(shapes.get(title) ?? []), type])
  }
  const lines = ['', `## ${heading}`]
  for (const types of shapes.values()) {
    const [first] = types
    lines.push(
      '',
      `### \`data\` of ${types.map((type) => `\`${type}\``).join(', ')}`,
      '',
      ...table(ENTRIES[first].data),
    )
    lines.push('', '```json', JSON.stringify(sampleBody(first), null, 2), '```')
  }
  return lines
}

function sectionOf(type) {
  const section = SECTIONS.find(([, prefix]) => type.startsWith(prefix))
  if (section === undefined) throw new Error(`no section of the page holds ${type}`)
  return section
}

function table(schema) {
  return ['| Member | Type | Meaning |', '|---|---|---|', ...rows(schema, '', new Map())]
}

/**
 * A row per member, those of objects and of lists of objects below their own. `shown` has the titled objects that the table
 * holds already, with their place.
 */
function rows(schema, prefix, shown) {
  return Object.entries(schema.properties).flatMap(([name, member]) => {
    const { inner, nullable } = unwrapped(member)
    const path = `${prefix}${name}`
    const optional = !(schema.required ?? []).includes(name)
    const type = `${typeOf(inner)}${nullable ? ' or null' : ''}${optional ? ', optional' : ''}`
    const about = member.description ?? inner.description
    const object = inner.items ?? inner
    const before = shown.get(object.title)
    const meaning = [about, before && `Members as in \`${before}\`.`].filter(Boolean).join(' ')
    const line = `| \`${path}\` | ${type} | ${meaning} |`
    if (object.properties === undefined || before !== undefined) return [line]
    if (object.title !== undefined) shown.set(object.title, path)
    return [line, ...rows(object, `${path}${inner.items === undefined ? '.' : '[].'}`, shown)]
  })
}

function unwrapped(schema) {
  const others = (schema.anyOf ?? []).filter((branch) => branch.type !== 'null')
  return others.length === 1 ? { inner: others[0], nullable: true } : { inner: schema, nullable: false }
}

function typeOf(schema) {
  if (schema.enum !== undefined) {
    return schema.enum.length > 8 ? 'one of the types' : schema.enum.map((value) => `\`${value}\``).join(', ')
  }
  if (schema.type === 'array') return schema.items.type === undefined ? 'list' : `list of ${typeOf(schema.items)}`
  if (schema.format === 'date-time') return 'time'
  return schema.format ?? schema.type ?? 'anything'
}

function list(items) {
  return items.map((item) => `- ${item}`)
}

function anchor(heading) {
  return heading.toLowerCase().replaceAll(' ', '-')
}
