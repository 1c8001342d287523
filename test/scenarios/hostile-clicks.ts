import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import type { Dovecot } from '../servers/dovecot.ts'
import type { SmtpSink } from '../servers/smtp.ts'
import { type Application, startApplication } from './application.ts'
import type { Client } from './client.ts'
import { connectMailboxes, numberedMessage, PASSWORD } from './mailboxes.ts'

export interface ScannedMessage {
  /** The account that sent it. */
  accountId: string
  /** Clicks the link and loads the pixel of a tracked message again and again, and replies to it every `paceMs`. */
  attack(paceMs: number): void
  /** Waits until every reply was announced as such, requires each once, and returns how often a link or the pixel was requested. */
  stop(): Promise<number>
  /** Subjects of the replies, which are messages of the mailbox too. */
  readonly replies: string[]
}

const SENDER = 'sender@mail.example'
const SCANNERS = 4
const PAUSE_MS = 20

/** Sends a tracked message whose links a scanner then clicks again and again, while its recipient replies. */
export async function sendScannedMessage(
  api: Client,
  url: string,
  dovecot: Dovecot,
  smtp: SmtpSink,
): Promise<ScannedMessage & { close(): Promise<void> }> {
  await dovecot.addUser(SENDER, PASSWORD)
  const accounts = await connectMailboxes(api, dovecot, [SENDER], smtp)
  const accountId = accounts.get(SENDER) ?? ''
  const application = await startApplication()
  await api.call('POST', '/webhooks/endpoints', { url: application.url, eventTypes: ['message.replied'] })
  await api.call('POST', `/accounts/${accountId}/messages/send`, {
    to: ['client@mail.example'],
    subject: 'Offer',
    body: '<p><a href="https://offer.example/">The offer</a></p>',
    isHtml: true,
    tracking: true,
  })
  const sent = await eventually(() => {
    const message = smtp.messages.find(({ raw }) => raw.includes('Subject: Offer'))
    expect(message).toBeDefined()
    return message?.raw.toString().replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? ''
  })
  const messageId = /^Message-ID: (<[^>]+>)/im.exec(sent)?.[1] ?? ''
  const targets = [...sent.matchAll(/https?:\/\/[^"\s]+(\/t\/[^"\s<>]+)/g)].map(([, path]) => url + path)
  expect([messageId, targets.length]).toEqual([expect.stringMatching(/@/), 2])

  const replies: string[] = []
  const running: Promise<void>[] = []
  let isStopped = false
  let requests = 0
  async function scan(): Promise<void> {
    while (!isStopped) {
      requests += 1
      const target = targets[requests % targets.length] ?? ''
      await fetch(target, { redirect: 'manual', signal: AbortSignal.timeout(20_000) })
        .then((response) => response.arrayBuffer())
        .catch(() => {})
      await sleep(PAUSE_MS)
    }
  }
  async function reply(paceMs: number): Promise<void> {
    while (!isStopped) {
      const subject = `Re: Offer ${replies.length}`
      const message = numberedMessage(subject).replace(/^Message-ID: .*$/m, `Message-ID: <r${replies.length}@client>`)
      await dovecot.deliver(SENDER, `In-Reply-To: ${messageId}\r\n${message}`)
      replies.push(subject)
      await sleep(paceMs)
    }
  }

  return {
    accountId,
    replies,
    attack(paceMs) {
      running.push(...Array.from({ length: SCANNERS }, scan), reply(paceMs))
    },
    async stop() {
      isStopped = true
      await Promise.all(running)
      await expectReplies(application, replies)
      return requests
    },
    close: () => application.close(),
  }
}

async function expectReplies(application: Application, replies: readonly string[]): Promise<void> {
  const subjects = () => [...application.received.values()].map(({ subject }) => subject)
  await eventually(() => expect(new Set(subjects()).size).toBe(replies.length), 60_000)
  expect(subjects().sort()).toEqual([...replies].sort())
}
