// `docs/events.md`, from the event catalogue.
import { catalogue } from '../../src/app/event-catalogue.ts'
import { eventSchema, exampleEvent } from '../../src/events/index.ts'

/** Headings with the prefix of the types that each one covers. */
const SECTIONS = [
  ['Messages', 'message.'],
  ['Folders', 'mailbox.'],
  ['Drafts', 'draft.'],
  ['Accounts', 'account.'],
  ['Historical sync', 'sync.'],
  ['Calendars', 'calendar.'],
  ['Bookings', 'booking.'],
  ['Webhooks', 'webhook.'],
]

export function eventsPage() {
  const lines = [
    '# Events',
    '',
    'Generated from the event declarations in `src/` by `npm run generate`. The `webhooks` section of `/openapi.json` contains the same as',
    'JSON Schema, with an example of each type. For signatures and delivery, see [webhooks.md](webhooks.md).',
    '',
    'An endpoint subscribes to types, to prefixes (`message.*`), or to all types (`*`). Any object may gain new fields: ignore fields',
    'that you do not know.',
    '',
    ...list(
      catalogue.types.map(
        (type) => `[\`${type}\`](#${anchor(sectionOf(type)[0])}): ${catalogue.get(type).description}`,
      ),
    ),
    '',
    '## Every event',
    '',
    ...table(eventSchema(catalogue.types)),
    '',
    'A webhook has two more fields: `deliveryId` (a delivery is one event for one endpoint) and `test` (true for test events).',
  ]
  const used = SECTIONS.filter(([, prefix]) => catalogue.types.some((type) => type.startsWith(prefix)))
  for (const section of used) lines.push(...describeSection(section))
  return `${lines.join('\n')}\n`
}

/** One section for all types with the same `data`. */
function describeSection([heading, prefix]) {
  const shapes = new Map()
  for (const type of catalogue.types.filter((type) => type.startsWith(prefix))) {
    const { title } = catalogue.get(type).data
    shapes.set(title, [...(shapes.get(title) ?? []), type])
  }
  const lines = ['', `## ${heading}`]
  for (const types of shapes.values()) {
    const [first] = types
    lines.push(
      '',
      `### \`data\` of ${types.map((type) => `\`${type}\``).join(', ')}`,
      '',
      ...table(catalogue.get(first).data),
    )
    lines.push('', '```json', JSON.stringify(exampleEvent(first, catalogue.get(first)), null, 2), '```')
  }
  return lines
}

function sectionOf(type) {
  const section = SECTIONS.find(([, prefix]) => type.startsWith(prefix))
  if (section === undefined) throw new Error(`no section covers ${type}`)
  return section
}

function table(schema) {
  return ['| Field | Type | Meaning |', '|---|---|---|', ...rows(schema, '', new Map())]
}

/** One row per member, followed by the members of nested objects. `shown` maps the titled objects of the table to their paths. */
function rows(schema, prefix, shown) {
  return Object.entries(schema.properties).flatMap(([name, member]) => {
    const { inner, nullable } = unwrapped(member)
    const path = `${prefix}${name}`
    const optional = !(schema.required ?? []).includes(name)
    const type = `${typeOf(inner)}${nullable ? ' or null' : ''}${optional ? ', optional' : ''}`
    const about = member.description ?? inner.description
    const object = inner.items ?? inner
    const before = shown.get(object.title)
    const meaning = [about, before && `Fields as in \`${before}\`.`].filter(Boolean).join(' ')
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
