import type { Experience } from '@posthorn/sdk'
import { type Command, type CommandArguments, type Terminal, UsageError } from '../command.ts'
import { printJson } from '../json.ts'
import { findAccount } from './accounts.ts'
import { LIST_OPTIONS, ONLINE_OPTIONS, type Open, online, parsePage, requireOperand } from './client.ts'
import { type Column, details, printList } from './table.ts'

const OPERAND = '<slug>'
const LIST = 'posthorn experiences list'
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const
const DEFAULT_HOURS = '09:00-17:00'
const DEFAULT_MINUTES = '30'

export const experienceCommands: Readonly<Record<string, Command>> = {
  'experiences list': {
    summary: 'list the experiences: the pages on which guests book',
    options: { ...LIST_OPTIONS, ...ONLINE_OPTIONS },
    examples: [LIST],
    run: online(list),
  },
  'experiences show': {
    summary: 'show an experience and its booking page',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: ['posthorn experiences show intro-call'],
    run: online(show),
  },
  'experiences create': {
    summary: 'create an experience with open hours from Monday to Friday',
    operand: OPERAND,
    options: {
      name: { value: 'TEXT', about: 'what guests read; default: the slug' },
      accounts: { value: 'LIST', about: 'the hosts: ids or addresses of accounts, separated by commas' },
      minutes: { value: 'NUMBER', about: `how long a meeting takes; default ${DEFAULT_MINUTES}` },
      hours: { value: 'FROM-TO', about: `when guests can book; default ${DEFAULT_HOURS}` },
      timezone: { value: 'ZONE', about: 'the time zone of the hours; default: that of this machine' },
      ...ONLINE_OPTIONS,
    },
    examples: [
      'posthorn experiences create intro-call --accounts ada@acme.example',
      "posthorn experiences create demo --name 'Product demo' --minutes 45 --hours 10:00-16:00 --timezone Europe/Berlin",
    ],
    run: online(create),
  },
  'experiences enable': switching('enable', 'offer an experience to guests again'),
  'experiences disable': switching('disable', 'offer an experience to no guest; its bookings remain'),
}

const COLUMNS: readonly Column<Experience>[] = [
  { title: 'SLUG', value: ({ slug }) => slug },
  { title: 'NAME', value: ({ name }) => name, shrinks: true },
  { title: 'STATE', value: ({ isActive }) => (isActive ? 'active' : 'disabled') },
  { title: 'HOSTS', value: ({ defaultAccountIds }) => String(defaultAccountIds.length), optional: true },
  { title: 'TIME ZONE', value: ({ timezone }) => timezone, optional: true },
  { title: 'BOOKING PAGE', value: ({ bookingUrl }) => bookingUrl, shrinks: true, optional: true },
]

async function list(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const query = parsePage(args)
  const posthorn = await open()
  const page = await posthorn.experiences.list(query)
  if (args.options.json !== undefined) return printJson(terminal, page.response)
  printList(terminal, page, COLUMNS, { noun: 'experience', command: LIST })
}

async function show(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const slug = requireOperand(args, 'experiences show', 'an experience', LIST)
  const posthorn = await open()
  const experience = await posthorn.experiences.get(slug)
  // The response to a guest, who has no key.
  if (!('id' in experience)) throw new Error('The service shows the experience as to a guest. Pass a key with --key.')
  if (args.options.json !== undefined) return printJson(terminal, experience)
  printExperience(terminal, experience)
}

function printExperience(terminal: Terminal, experience: Experience): void {
  const { availability, availabilityEndpoint, defaultAccountIds } = experience
  const hours = availability?.openHours?.map(({ days, start, end }) => `${days.join(', ')} ${start}-${end}`)
  const lines = details({
    Experience: experience.slug,
    Name: experience.name,
    State: experience.isActive ? 'active' : 'disabled',
    'Booking page': experience.bookingUrl,
    Hosts: defaultAccountIds.length === 0 ? 'none' : defaultAccountIds.join(', '),
    'Time zone': experience.timezone,
    'Open hours': hours?.join('; ') ?? null,
    Slots: availabilityEndpoint === null ? null : `from ${availabilityEndpoint.url}`,
    Duration: availability?.durationMinutes === undefined ? null : `${availability.durationMinutes} min`,
    'Callback secret': experience.callbackSecret ?? null,
    'Created at': experience.createdAt,
    'Updated at': experience.updatedAt,
  })
  for (const line of lines) terminal.out(line)
}

async function create(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const { operands, options } = args
  const [slug] = operands
  if (slug === undefined) throw new UsageError('experiences create needs a slug, such as intro-call.')
  const [, start, end] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(options.hours ?? DEFAULT_HOURS) ?? []
  if (start === undefined || end === undefined) throw new UsageError('--hours must be such as 09:00-17:00.')
  const minutes = options.minutes ?? DEFAULT_MINUTES
  if (!/^[1-9]\d{0,3}$/.test(minutes)) throw new UsageError('--minutes must be a whole number from 1.')
  const posthorn = await open()
  const defaultAccountIds: string[] = []
  for (const named of options.accounts?.split(',') ?? [])
    defaultAccountIds.push((await findAccount(posthorn, named.trim())).id)
  const experience = await posthorn.experiences.create({
    slug,
    name: options.name ?? slug,
    timezone: options.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    defaultAccountIds,
    availability: {
      openHours: [{ days: [...WEEKDAYS], start, end }],
      durationMinutes: Number(minutes),
    },
  })
  if (options.json !== undefined) return printJson(terminal, experience)
  printExperience(terminal, experience)
  terminal.error(
    'This is the only time that the callback secret is shown. Guests book at the address of the booking page.',
  )
}

function switching(verb: 'enable' | 'disable', summary: string): Command {
  return {
    summary,
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn experiences ${verb} intro-call`],
    run: online(async (terminal, args, open) => {
      const slug = requireOperand(args, `experiences ${verb}`, 'an experience', LIST)
      const posthorn = await open()
      const experience = await posthorn.experiences.update(slug, { isActive: verb === 'enable' })
      if (args.options.json !== undefined) return printJson(terminal, experience)
      terminal.out(`${experience.slug}  ${experience.name}  ${experience.isActive ? 'active' : 'disabled'}`)
    }),
  }
}
