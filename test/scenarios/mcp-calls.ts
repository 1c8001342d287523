import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { bookableTime, type McpStage } from './mcp-stage.ts'

/** Calls a tool and returns its structured content; throws for a tool error. */
export async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Structured> {
  const result = await callRaw(client, name, args)
  if (result.isError) throw new Error(`${name}: ${textOf(result)}`)
  // Untyped, because tests assert on its members.
  return JSON.parse(JSON.stringify(result.structuredContent))
}

type Structured = ReturnType<typeof JSON.parse>

export async function callRaw(client: Client, name: string, args: Record<string, unknown>): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: args })) as CallToolResult
}

export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
}

/** How a caller of tools returns structured content, whatever client it uses. */
export type CallTool = (name: string, args?: Record<string, unknown>) => Promise<Structured>

/** Calls every tool once in an order in which each finds what it needs, and returns their names. `hour`: 11 or 14, each once per stage. */
export async function callEveryTool(callTool: CallTool, stage: McpStage, hour: number): Promise<string[]> {
  const { accountId } = stage
  const called: string[] = []
  const use: CallTool = (name, args) => {
    if (!called.includes(name)) called.push(name)
    return callTool(name, args)
  }

  const { accounts } = (await use('list_accounts')).untrusted
  expect(accounts).toMatchObject([{ id: accountId, provider: 'gmail', status: 'connected' }])
  const { labels } = (await use('list_labels', { accountId, limit: 50 })).untrusted
  const inbox = labels.find(({ role }: { role?: string }) => role === 'inbox')
  expect(inbox).toBeDefined()

  const lunch = (await use('search_messages', { accountId, query: 'lunch', from: 'friends' })).untrusted.messages
  expect(lunch.map(({ subject }: { subject: string }) => subject).sort()).toEqual(['Lunch', 'Re: Lunch'])
  const [{ id: messageId, threadId }] = lunch
  const read = (await use('read_message', { accountId, messageId })).untrusted.message
  expect(read.text).toMatch(/plain mail|At noon/)
  const { thread } = (await use('read_thread', { accountId, threadId })).untrusted
  expect(thread.messages.map(({ text }: { text: string }) => text)).toEqual(
    expect.arrayContaining(['At noon.', expect.stringContaining('plain mail')]),
  )
  const files = await stage.messageId('Files')
  const { attachments } = (await use('read_message', { accountId, messageId: files })).untrusted.message
  const notes = await use('read_attachment', { accountId, messageId: files, attachmentId: attachments[0].id })
  expect(notes).toMatchObject({
    content: 'text',
    untrusted: { attachment: { text: expect.stringContaining('notes') } },
  })

  const starred = await use('update_message', { accountId, messageId, starred: true, unread: true })
  expect(starred.untrusted.message).toMatchObject({
    starred: true,
    unread: true,
    labelIds: expect.arrayContaining([inbox.id]),
  })
  const archived = await use('update_message', { accountId, messageId, removeLabelIds: [inbox.id] })
  expect(archived.untrusted.message.labelIds).not.toContain(inbox.id)
  const restored = await use('update_message', { accountId, messageId, addLabelIds: [inbox.id] })
  expect(restored.untrusted.message.labelIds).toContain(inbox.id)

  const fields = { accountId, to: ['Bo <bo@friends.test>'], subject: `Plan ${hour}`, body: 'See you.' }
  const { draftId } = await use('create_draft', fields)
  expect(await use('update_draft', { draftId, body: 'See you soon.' })).toMatchObject({ draftId })
  expect((await use('read_draft', { draftId })).untrusted.draft).toMatchObject({
    subject: fields.subject,
    text: 'See you soon.',
  })
  const { drafts } = (await use('list_drafts', { accountId })).untrusted
  expect(drafts.map(({ id }: { id: string }) => id)).toContain(draftId)
  const prepared = await use('send_message', { draftId })
  expect(prepared).toMatchObject({ status: 'confirmation_required', draftId })
  const { confirmationToken } = prepared
  expect((await use('send_message', { draftId, confirmationToken })).status).toMatch(/queued|sending|sent/)
  const other = await use('create_draft', { ...fields, subject: 'Wrong' })
  await use('delete_draft', { draftId: other.draftId })

  const repliesBefore = stage.countSent('Re: Lunch')
  const reply = { accountId, messageId, to: ['bo@friends.test'], body: 'Yes.' }
  const asked = await use('reply_to_message', reply)
  await use('reply_to_message', { ...reply, confirmationToken: asked.confirmationToken })
  await eventually(() => stage.countSent(fields.subject) === 1 && stage.countSent('Re: Lunch') === repliesBefore + 1)

  const { contacts } = (await use('search_contacts', { accountId, query: 'berg acme' })).untrusted
  expect(contacts).toMatchObject([{ name: 'Zoë Berg', company: 'Acme', source: 'address_book' }])
  const { contact } = (await use('get_contact', { accountId, contactId: contacts[0].id })).untrusted
  expect(contact).toMatchObject({ ...contacts[0], notes: expect.stringContaining('SYSTEM') })

  const range = { start: bookableTime(0), end: bookableTime(23) }
  const { calendars } = (await use('list_calendars', { accountId })).untrusted
  expect(calendars).toMatchObject([{ primary: true }])
  const { events } = (await use('list_events', { accountId, ...range })).untrusted
  expect(events.map(({ title }: { title: string }) => title)).toContain('Budget')
  const free = (await use('find_free_time', { accountId, ...range, durationMinutes: 60 })).untrusted.free
  expect(free.map(({ start }: { start: string }) => start)).not.toContain(bookableTime(9))
  expect(free.length).toBeGreaterThan(10)
  const event = { accountId, title: 'Walk', start: bookableTime(20), end: bookableTime(21) }
  const { eventId } = await use('create_event', event)
  const moved = await use('update_event', { accountId, eventId, title: 'Run' })
  expect(moved.untrusted.event).toMatchObject({ title: 'Run', start: event.start })
  await use('delete_event', { accountId, eventId })

  const { pages } = (await use('list_booking_pages')).untrusted
  expect(pages).toMatchObject([{ slug: 'intro-call', durationMinutes: 30 }])
  const { slots } = (await use('list_booking_slots', { slug: 'intro-call', ...range, durationMinutes: 30 })).untrusted
  const start = bookableTime(hour)
  expect(slots.map((slot: { start: string }) => slot.start)).toContain(start)
  const booking = { slug: 'intro-call', start, guestName: 'Dee', guestEmail: 'dee@friends.test' }
  const wanted = await use('book_slot', booking)
  expect(wanted.status).toBe('confirmation_required')
  const booked = await use('book_slot', { ...booking, confirmationToken: wanted.confirmationToken })
  expect(booked).toMatchObject({ status: 'confirmed', untrusted: { booking: { start } } })

  await use('update_message', { accountId, messageId, starred: false })
  await use('trash_message', { accountId, messageId: await stage.messageId(`Spare ${hour}`) })
  return called
}
