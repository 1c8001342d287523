import { isMailSystem } from './mail-system.ts'
import type { ReportedRecipient } from './report.ts'
import { cleanAddress, described, type Found, MAX_RECIPIENTS } from './status.ts'

/** The words are near the beginning. */
const MAX_LINES = 200
const MAX_LINE = 300
/** Lines below the words in which addresses are expected. */
const MAX_BELOW = 60
/** Lines of a recipient. */
const MAX_REASON = 6

/**
 * Reads what older servers write for people: words that say that a message failed or is delayed, then the addresses, each with its
 * reason, and sometimes a transcript of the session. Undefined without such words, or without an address below them.
 */
export function wordedReport(lines: readonly string[]): Omit<Found, 'original'> | undefined {
  const cut = lines.slice(0, MAX_LINES).map((line) => line.slice(0, MAX_LINE))
  const start = cut.findIndex((line, at) => FAILED.test(joined(line, cut[at + 1])) || DELAYED.test(line))
  if (start === -1) return undefined
  const below = cut.slice(start, start + MAX_BELOW)
  const end = below.findIndex((line, at) => at > 0 && TRANSCRIPT.test(line))
  const listed = recipientsIn(end === -1 ? below : below.slice(0, end))
  const transcript = cut.slice(start)
  const recipients = listed.length > 0 ? listed : inTranscript(transcript)
  if (recipients.length === 0) return undefined
  return {
    recipients: recipients.map((recipient) =>
      recipient.diagnostic === null ? explained(recipient.email, transcript) : recipient,
    ),
    kind:
      cut.some((line) => PERMANENT.test(line)) || !cut.some((line) => DELAYED.test(line)) ? 'permanent' : 'temporary',
  }
}

/** Sentences are broken at any word. */
function joined(line: string, next = ''): string {
  return `${line} ${next}`.replace(/\s+/g, ' ')
}

const FAILED = new RegExp(
  [
    /permanent (?:fatal |delivery )?errors?|fatal errors|delivery (?:errors|problems)|had errors/,
    /(?:could|can|was|were|has|have) ?(?:not|n['\u2019]t) (?:be(?:en)? )?(?:successfully )?deliver(?:ed)?/,
    /unable to deliver|undeliverable|undelivered|delivery (?:to .{0,60})?(?:has )?(?:failed|was aborted)|failed to deliver/,
    /did not (?:reach|receive)|could not be (?:reached|sent)|failed (?:recipients?|addresses)|following address(?:\(es\)|es)? failed/,
    /(?:user|recipient|receiver|address|mailbox) (?:is )?(?:unknown|not found|invalid|unavailable)|unknown (?:user|recipient)/,
    /invalid (?:receiver|recipient) address|no such (?:user|mailbox)|mailbox (?:is )?full|failure reasons/,
    /nicht (?:zugestellt|zustellbar|ausgeliefert)|unzustellbar|n['\u2019](?:a|ont) pas pu \u00eatre|non (?:remis|distribu)/,
    /no (?:se (?:ha podido|pudo)|ha podido ser|pudo ser) entreg|non \u00e8 stato (?:possibile )?(?:consegn|recapit)/,
    /impossibile (?:consegn|recapit)|n\u00e3o (?:p\u00f4de|foi poss\u00edvel|foi) .{0,20}entreg|niet (?:worden )?(?:bezorgd|afgeleverd)/,
    /\u043d\u0435 (?:\u0431\u044b\u043b\u043e |\u043c\u043e\u0436\u0435\u0442 \u0431\u044b\u0442\u044c |\u0443\u0434\u0430\u043b\u043e\u0441\u044c )?\u0434\u043e\u0441\u0442\u0430\u0432|\u043d\u0435\u0434\u043e\u0441\u0442\u0430\u0432\u043b\u0435\u043d/,
    /\u914d(?:\u4fe1|\u9054)(?:\u3067\u304d|\u3055\u308c)\u307e\u305b\u3093|\u9001\u4fe1\u3067\u304d\u307e\u305b\u3093|\u5c4a\u3051(?:\u3089\u308c|\u3067\u304d)\u307e\u305b\u3093|\u898b\u3064\u304b\u308a\u307e\u305b\u3093/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)

/** Says so even when the servers' words name a delay, too. */
const PERMANENT = /permanent|(?<!non-)fatal errors|given up|giving up/i

const DELAYED =
  /transient|still undelivered|not yet (?:been )?delivered|warning message only|do not need to resend|delivery (?:is|has been|was) delayed|will (?:be retried|keep trying|continue to try|try again)|wird weiterhin versucht/i

const TRANSCRIPT = /transcript (?:of|follows)|session (?:log|transcript)|diagnostic information|technical details/i

/** Bounded, and without characters that end an address in a text. */
const ADDRESS = String.raw`[^\s<>()\[\],;:"'@\u3000-\u301c\uff08-\uff1e]{1,64}@[^\s<>()\[\],;:"'@\u3000-\u301c\uff08-\uff1e]{1,250}`
/** At the beginning of a line, also in a list. */
const AT_START = new RegExp(
  String.raw`^\s*(?:[-*\u2022\u00b7]+\s+|\d{1,3}[.)]\s+|>\s+)?["'(]?<?(?:mailto:|smtp:)?(${ADDRESS})>?["')]?(.*)$`,
  'i',
)
/** After a word that announces a recipient. */
const LABELLED = new RegExp(
  String.raw`(?:recipients?|address|rcpt to|receiver|addressed to|error-for|user|deliver(?:ed)? to|message to|empf\u00e4nger|destinataire|destinatario|\u043f\u043e\u043b\u0443\u0447\u0430\u0442\u0435\u043b\u044c|\u5b9b\u5148|\u53d7\u4fe1\u8005)[^@\n]{0,40}?[\s:=<'"(\uff1a](${ADDRESS})(.*)$`,
  'i',
)

function recipientsIn(lines: readonly string[]): ReportedRecipient[] {
  const found = new Map<string, string>()
  let last: { email: string; reasons: number } | undefined
  for (const line of lines) {
    const { email, rest } = addressIn(line)
    if (email !== '' && email !== last?.email && !isMailSystem(email)) {
      if (found.size === MAX_RECIPIENTS) break
      last = found.has(email) ? undefined : { email, reasons: 0 }
      if (last !== undefined) found.set(email, reasonIn(rest))
    } else if (line.trim() === '') {
      // Domino leaves a line between the address and its reason.
      if (last !== undefined && last.reasons > 0) last = undefined
    } else if (last !== undefined && last.reasons < MAX_REASON) {
      const reason = reasonIn(line)
      if (reason === '') continue
      last.reasons += 1
      found.set(last.email, `${found.get(last.email) ?? ''} ${reason}`)
    }
  }
  return [...found].map(([email, reason]) => described(email, reason))
}

/** The recipient that a line names, and what follows it. */
function addressIn(line: string): { email: string; rest: string } {
  if (!line.includes('@')) return { email: '', rest: '' }
  const [, text = '', rest = ''] = AT_START.exec(line) ?? LABELLED.exec(line) ?? []
  return { email: cleanAddress(text).replace(/[.>]+$/, ''), rest }
}

/** Without the punctuation around a reason, and without lines that say something else. */
function reasonIn(text: string): string {
  const line = text.trim()
  if (/^(?:because:?|\(expanded from.*|on \w{3}, .*)$/i.test(line)) return ''
  const inner = /^\((?:reason:\s*)?(.*)\)$/i.exec(line)?.[1] ?? line
  return inner.replace(/^[\s.:;,>()-]+/, '').trim()
}

/** Reads the receiving server's reply to an address: `550 <ada@example.com>... User unknown`. */
function inTranscript(lines: readonly string[]): ReportedRecipient[] {
  const found = new Map<string, string>()
  for (const line of lines) {
    const email = REPLY.exec(line)?.[1]
    if (email !== undefined && found.size < MAX_RECIPIENTS && !found.has(email)) found.set(email, line)
  }
  return [...found].map(([email, line]) => described(cleanAddress(email), reply(line)))
}

const REPLY = new RegExp(String.raw`^\s*(?:<<<\s*)?5\d\d[ -](?:5\.\d{1,3}\.\d{1,3} )?<?(${ADDRESS})>?`)

function explained(email: string, lines: readonly string[]): ReportedRecipient {
  const line = lines.find((candidate) => candidate.includes(email) && /\b[45]\d\d[ -]/.test(candidate))
  return described(email, line === undefined ? '' : reply(line))
}

function reply(line: string): string {
  return line.replace(/^\s*<<<\s*/, '').trim()
}
