import { readFileSync } from 'node:fs'

/** The message that the API must show; a member that is missing is not checked. Texts need to contain the words. */
export interface Expected {
  subject?: string
  from?: { name?: string; email: string }
  /** ISO 8601, or null. */
  date?: string | null
  text?: readonly string[]
  html?: readonly string[]
  snippet?: string
  hasAttachments?: boolean
  attachments?: readonly Partial<{ filename: string; size: number; inline: boolean; content: string }>[]
  /** A word that none of the texts may contain. */
  absent?: string
}

const TEN = '2026-11-20T10:00:00.000Z'

/**
 * Messages as people really send them, by file name. Each shows one thing that mail programs write against or beside the standards; the
 * decision on odd mail says why each value is right where the standards leave it open.
 */
export const EXPECTED: Readonly<Record<string, Expected>> = {
  'cs-cp949': { text: ['한글메일'], snippet: '한글메일' },
  'cs-iso2022jp': { text: ['日本語'] },
  'cs-win1251-nodash': { text: ['Привет'] },
  'cs-single': { text: ['Żółć'] },
  'cs-cp850': { text: ['Grüße'] },
  'cs-utf7': { text: ['Grüße'] },
  'cs-uhc': { text: ['한뷁글'] },
  'cs-utf16be': { text: ['Grüße'] },
  'cs-meta-koi': { html: ['Привет'], snippet: 'Привет' },
  'cs-raw-gbk-head': { subject: '测试邮件 raw', from: { name: '测试邮件', email: 'cn@example.com' } },
  'ew-unknown8': { subject: 'Grüße x' },
  'ew-jis-two': { subject: '日本語耳', from: { name: '日本語耳', email: 'jis@example.com' } },
  'ew-question': { subject: 'Alles in Ordnung? Grüße' },
  'ad-q-comma': { from: { name: 'Müller, Hans', email: 'hans@example.com' } },
  'ad-q-colon': { from: { name: 'Support: Büro', email: 'support@example.com' } },
  'ad-q-paren': { from: { name: 'Jörg (Vertrieb)', email: 'jv@example.com' } },
  'ad-q-quote': { from: { name: 'Jörg "JJ" K', email: 'jj@example.com' } },
  'ad-unquoted-comma': { from: { email: 'hans2@example.com' } },
  'ad-nested-comment': { from: { email: 'pete@silly.example.com' } },
  'sp-raw-at': { from: { email: 'real@attacker.example.net' } },
  'dt-cest': { date: '2026-11-20T08:00:00.000Z' },
  'dt-windows': { date: TEN },
  'dt-year3': { date: TEN },
  'dt-nozone': { date: TEN },
  'dt-jst': { date: '2026-11-20T01:00:00.000Z' },
  'dt-dots': { date: TEN },
  'dt-noyear': { date: null },
  'mi-html-footer': { html: ['The real message', 'List footer'], text: ['The real message', 'List footer'] },
  'mi-name-body': { html: ['Shown as the body'], snippet: 'Shown as the body', attachments: [] },
  'mi-apple-pdf': { hasAttachments: true, attachments: [{ filename: 'invoice.pdf', content: '%PDF-1.4' }] },
  'mi-iphone-empty': { hasAttachments: true, attachments: [{ filename: 'IMG_0001.jpeg', inline: false }] },
  'mi-amp': { hasAttachments: false, attachments: [], text: ['plain'], html: ['html'], absent: 'amp' },
  'mi-b64-concat': { text: ['Hello wörld', 'list footer'] },
  'mi-b64-plainfooter': { text: ['Hello base64 wörld.'], snippet: 'Hello base64 wörld.' },
  'mi-flowed': {
    text: ['請求書を送ります。', '> quotedline', '-- \nSig'],
    snippet: '請求書を送ります。 > quotedline -- Sig',
  },
  'mi-report-in-text': { text: ['Grüße'] },
  'mi-crlf-html': { snippet: '' },
  'mi-prefix-bound': { snippet: 'prefix text', hasAttachments: true },
  'mi-img-between': { text: ['before the image', 'afterimageword'], hasAttachments: true },
  'mi-uu': { attachments: [{ filename: 'u.txt', content: 'abc' }] },
  'fn-unquoted-space': { attachments: [{ filename: 'My Invoice 2026.pdf', content: 'abc' }] },
  'fn-percent': { attachments: [{ filename: '测.txt' }] },
  'fn-winpath': { attachments: [{ filename: 'plan.doc' }] },
  'fn-size': { attachments: [{ size: 1 }, { size: 57 }, { size: 1000 }] },
  'sf-protocol-rel': { html: ['//cdn.example.com/a.png'] },
}

export function messageFile(name: string): Buffer {
  return readFileSync(new URL(`${name}.eml`, import.meta.url))
}
