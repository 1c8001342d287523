// `docs/events.md`, from the event catalogue.
import { catalogue } from '../../src/app/feature-list.ts'
import { eventSchema, exampleEvent } from '../../src/events/index.ts'

/** Headings with the prefix of the types that each one covers. */
const SECTIONS = [
  ['Messages', 'message.'],
  ['Folders', 'mailbox.'],
  ['Drafts', 'draft.'],
  ['Accounts', 'account.'],
  ['Historical sync', 'sync.'],
  ['Calendars', 'calendar.'],
  ['Contacts', 'contact.'],
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
        (type) => `[\`${type}\`](#${anchor(findSection(type)[0])}): ${catalogue.get(type).description}`,
      ),
    ),
    '',
    '## Every event',
    '',
    ...table(eventSchema(catalogue.types)),
    '',
    'A webhook has two more fields: `deliveryId` (a delivery is one event for one endpoint) and `test` (true for test events).',
    'The first example below is a complete event, the others are `data` alone.',
  ]
  const used = SECTIONS.filter(([, prefix]) => catalogue.types.some((type) => type.startsWith(prefix)))
  const described = []
  for (const section of used) lines.push(...describeSection(section, described))
  return `${lines.join('\n')}\n`
}

/** A shape of `data` refers to an earlier one from this many equal fields on. */
const MIN_SHARED = 8

/** One section for all types with the same `data`. Adds to `described`, the shapes of the page so far. */
function describeSection([heading, prefix], described) {
  const shapes = new Map()
  for (const type of catalogue.types.filter((type) => type.startsWith(prefix))) {
    const { title } = catalogue.get(type).data
    shapes.set(title, [...(shapes.get(title) ?? []), type])
  }
  const lines = ['', `## ${heading}`]
  for (const types of shapes.values()) {
    const [first] = types
    const title = `\`data\` of ${types.map((type) => `\`${type}\``).join(', ')}`
    const fields = rows(catalogue.get(first).data, '', new Map())
    const example = exampleEvent(first, catalogue.get(first))
    const base = nearestShape(fields, described)
    lines.push('', `### ${title}`, '', ...(base === undefined ? formatTable(fields) : differences(fields, base)))
    if (base === undefined) lines.push('', ...json(described.length === 0 ? example : example.data))
    described.push({ type: first, title, fields })
  }
  return lines
}

/** The described shape with the most fields in common, if it is worth a reference. */
function nearestShape(fields, described) {
  const shared = ({ fields: others }) => others.filter((line) => fields.includes(line)).length
  const [nearest] = [...described].sort((one, other) => shared(other) - shared(one))
  return nearest !== undefined && shared(nearest) >= MIN_SHARED ? nearest : undefined
}

/** Names the shape that has most of the fields, and lists the others. */
function differences(fields, base) {
  const own = fields.filter((line) => !base.fields.includes(line))
  const names = own.map(nameOf)
  const missing = base.fields.map(nameOf).filter((name) => !fields.some((line) => nameOf(line) === name))
  const link = `[\`data\` of \`${base.type}\`](#${headingAnchor(base.title)})`
  const without = missing.length === 0 ? '' : `, without ${missing.join(', ')}`
  if (own.length === 0) return [`The fields of ${link}${without}.`]
  const isNew = names.every((name) => !base.fields.some((line) => nameOf(line) === name))
  return [
    `The fields of ${link}${without}, and ${isNew ? 'these' : 'these, some with another meaning'}:`,
    '',
    ...formatTable(own),
  ]
}

function json(value) {
  return ['```json', JSON.stringify(value, null, 2), '```']
}

const nameOf = (line) => line.split(' | ')[0].slice(2)

/** As GitHub makes it from the text of a heading. */
function headingAnchor(title) {
  return anchor(title.replaceAll(/[`.,]/g, ''))
}

function findSection(type) {
  const section = SECTIONS.find(([, prefix]) => type.startsWith(prefix))
  if (section === undefined) throw new Error(`no section covers ${type}`)
  return section
}

function table(schema) {
  return formatTable(rows(schema, '', new Map()))
}

function formatTable(lines) {
  return ['| Field | Type | Meaning |', '|---|---|---|', ...lines]
}

/** One row per member, followed by the members of nested objects. `shown` maps the titled objects of the table to their paths. */
function rows(schema, prefix, shown) {
  return Object.entries(schema.properties).flatMap(([name, member]) => {
    const { inner, nullable } = unwrapped(member)
    const path = `${prefix}${name}`
    const optional = !(schema.required ?? []).includes(name)
    const type = `${describeType(inner)}${nullable ? ' or null' : ''}${optional ? ', optional' : ''}`
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

function describeType(schema) {
  if (schema.enum !== undefined) {
    return schema.enum.length > 8 ? 'one of the types' : schema.enum.map((value) => `\`${value}\``).join(', ')
  }
  if (schema.type === 'array') return schema.items.type === undefined ? 'list' : `list of ${describeType(schema.items)}`
  if (schema.format === 'date-time') return 'time'
  return schema.format ?? schema.type ?? 'anything'
}

function list(items) {
  return items.map((item) => `- ${item}`)
}

function anchor(heading) {
  return heading.toLowerCase().replaceAll(' ', '-')
}
