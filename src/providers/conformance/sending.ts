import { randomFillSync } from 'node:crypto'
import PostalMime from 'postal-mime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ProviderError, type QueuedMessage, type Sender } from '../contract/index.ts'

/** A mailbox that sends. */
export interface SendingFixture {
  email: string
  /** A new sender, as the outbox opens it. */
  open(): Sender
  /** Every message that was handed over for delivery: its source, and who gets it. */
  submitted(): { raw: string; recipients: string[] }[]
  /** Refuses the next message: for good, or for now. */
  refuse(how: 'permanent' | 'temporary'): void
  /** Ends the pause that a temporary refusal asked for. */
  heal(): void
  /** Takes the next message and closes the connection without a response. */
  loseResponse(): void
  /** Number of messages in Sent with this token or Message-ID. */
  copies(message: { rfcMessageId: string; sentToken: string }): Promise<number>
  stop(): Promise<void>
}

const never = new AbortController().signal
let count = 0

/** Runs the tests that every provider with sending must pass. */
export function sendingConformance(name: string, open: () => Promise<SendingFixture>): void {
  submissionConformance(name, open)
  describe(`sending over ${name}`, () => {
    it('throws when the response is lost after the commit', async () => {
      const { box, send, queue, commits } = await opened(open)
      box.loseResponse()
      const error = await send(queue()).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ProviderError)
      expect(commits).toHaveLength(1)
    })
  })
}

/** The part of the contract whose outcome depends on the server. */
export function submissionConformance(name: string, open: () => Promise<Omit<SendingFixture, 'loseResponse'>>): void {
  describe(`sending over ${name}`, () => {
    it('sends a message once, commits once before it, and shows Bcc to nobody', async () => {
      const { box, sender, send, commits, queue } = await opened(open)
      const message = queue({ bcc: ['hidden@example.com'] })
      const outcome = await send(message, async () => expect(box.submitted()).toEqual([]))
      expect(outcome).toMatchObject({ sent: true, refused: [] })
      expect(commits).toHaveLength(1)
      const [submitted, ...others] = box.submitted()
      expect(others).toEqual([])
      expect(submitted?.recipients.sort()).toEqual(['bob@example.com', 'hidden@example.com'])
      expect(submitted?.raw.slice(submitted.raw.indexOf('\r\n\r\n'))).toBe('\r\n\r\n.Hello\r\n')
      await sender.copies?.save({ ...message, sentAt: SENT_AT, mayExist: false }, never)
      await sender.copies?.save({ ...message, sentAt: SENT_AT, mayExist: true }, never)
      expect(await box.copies(message)).toBe(1)
      const counted = [message, { rfcMessageId: '<other@x>', sentToken: 'other' }]
      expect((await sender.copies?.count(counted, never)) ?? [1, 0]).toEqual([1, 0])
      // Counting leaves the folder open read-only, where Courier accepts nothing.
      const another = queue()
      await sender.copies?.save({ ...another, sentAt: SENT_AT, mayExist: true }, never)
      if (sender.copies !== undefined) expect(await box.copies(another)).toBe(1)
      const ref = { ...message, providerMessageId: commits[0] ?? null, committedAt: SENT_AT }
      expect(await sender.wasSent(ref, never)).toBe(true)
      expect(
        await sender.wasSent({ ...ref, rfcMessageId: '<other@x>', sentToken: 'x', providerMessageId: null }, never),
      ).toBe(false)
    })

    it('sends nothing when the commit fails', async () => {
      const { box, send, queue } = await opened(open)
      const failure = new Error('not committed')
      await expect(send(queue(), () => Promise.reject(failure))).rejects.toBe(failure)
      expect(box.submitted()).toEqual([])
      expect(await send(queue())).toMatchObject({ sent: true })
    })

    it.each(['permanent', 'temporary'] as const)(
      'reports a %s refusal, after which the sender still works',
      async (how) => {
        const { box, send, queue } = await opened(open)
        box.refuse(how)
        expect(await send(queue())).toMatchObject({ sent: false, retry: how === 'temporary' })
        box.heal()
        expect(await send(queue())).toMatchObject({ sent: true })
        expect(box.submitted()).toHaveLength(1)
      },
    )

    it('sends attachments of more than 3 MB unchanged', async () => {
      const { box, send, queue } = await opened(open)
      const files = [3_200_000, 100].map((size) => randomFillSync(Buffer.alloc(size)))
      expect(await send(queue({ files }))).toMatchObject({ sent: true })
      const { text, attachments } = await PostalMime.parse(box.submitted()[0]?.raw ?? '')
      expect(text?.trim()).toBe('.Hello')
      expect(attachments.map(({ filename, mimeType }) => [filename, mimeType])).toEqual(
        files.map((_, index) => [`file${index}.bin`, 'application/x-test']),
      )
      for (const [index, { content }] of attachments.entries()) {
        expect(files[index]?.equals(Buffer.from(content as ArrayBuffer))).toBe(true)
      }
    })
  })
}

async function opened<Fixture extends Omit<SendingFixture, 'loseResponse'>>(open: () => Promise<Fixture>) {
  const box = await open()
  onTestFinished(() => box.stop())
  const sender = box.open()
  onTestFinished(() => sender.close())
  const commits: (string | null)[] = []
  const send = (message: QueuedMessage, before: () => Promise<void> = async () => {}) => {
    const onCommit = async ({ providerMessageId }: { providerMessageId: string | null }) => {
      await before()
      commits.push(providerMessageId)
    }
    return sender.send(message, { onDraft: async () => {}, onCommit }, never)
  }
  const queue = (more: Parameters<typeof queued>[1] = {}) => queued(box.email, more)
  return { box, sender, send, commits, queue }
}

/** In the past, so that no provider finds the message too old to search for. */
const SENT_AT = 1_790_000_000_000

function queued(
  email: string,
  { bcc = [], files = [] }: { bcc?: string[]; files?: Buffer[] },
): QueuedMessage & { sentToken: string } {
  count += 1
  const sentToken = `token-${count}`
  const rfcMessageId = `<m${count}.${email}>`
  const body = '.Hello\r\n'
  const header = [
    `From: ${email}`,
    'To: Bob <bob@example.com>',
    'Subject: Hello',
    `Message-ID: ${rfcMessageId}`,
    'Date: Fri, 20 Nov 2026 08:00:00 +0000',
    `X-Posthorn-Id: ${sentToken}`,
    'MIME-Version: 1.0',
  ].join('\r\n')
  const content = Buffer.from(
    files.length === 0 ? `${header}\r\n\r\n${body}` : `${header}\r\n${multipart(body, files)}`,
  )
  return {
    from: email,
    sentToken,
    rfcMessageId,
    repliesTo: null,
    sizeBytes: content.length,
    earlierDraftId: null,
    mayHaveDraft: false,
    originalDraftId: null,
    recipients: ['bob@example.com', ...bcc],
    to: [{ name: 'Bob', email: 'bob@example.com' }],
    cc: [],
    bcc,
    async *bytes() {
      yield content
    },
  }
}

function multipart(body: string, files: readonly Buffer[]): string {
  const parts = files.map((file, index) => [
    '--mix',
    'Content-Type: application/x-test',
    `Content-Disposition: attachment; filename=file${index}.bin`,
    'Content-Transfer-Encoding: base64',
    '',
    ...(file.toString('base64').match(/.{1,76}/g) ?? []),
  ])
  return [
    'Content-Type: multipart/mixed; boundary="mix"',
    '',
    '--mix',
    'Content-Type: text/plain',
    '',
    body,
    ...parts.flat(),
    '--mix--',
    '',
  ].join('\r\n')
}
