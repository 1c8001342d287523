import type { IncomingHttpHeaders } from 'node:http'
import { truncateText } from '../../platform/formats/text.ts'

/** Who loaded a pixel or followed a link. */
export interface Visitor {
  userAgent: string | null
  ipAddress: string | null
  /** Why a program caused the request, and not a person; null: probably a person. */
  automatedReason: AutomatedReason | null
}

/**
 * `prefetch`: a browser or mail program loads what it may show later. `apple_mail_privacy`: Apple Mail loads every image when the
 * message arrives. `gmail_image_proxy`: Gmail's proxy, which hides whether and where the message was opened. `scanner`: a security
 * gateway, link preview or script. `no_user_agent`: no browser or mail program. `automatic_reply`: an out-of-office note.
 */
export const AUTOMATED_REASONS = [
  'prefetch',
  'apple_mail_privacy',
  'gmail_image_proxy',
  'scanner',
  'no_user_agent',
  'automatic_reply',
] as const
export type AutomatedReason = (typeof AUTOMATED_REASONS)[number]

const MAX_USER_AGENT = 300

export function identifyVisitor(headers: IncomingHttpHeaders, ipAddress: string): Visitor {
  const userAgent = truncateText(headers['user-agent']?.trim() ?? '', MAX_USER_AGENT) || null
  return { userAgent, ipAddress, automatedReason: findAutomatedReason(headers, userAgent) }
}

const SCANNER =
  /bot\b|crawl|spider|preview|scan|proofpoint|mimecast|barracuda|bitdefender|fireeye|symantec|forcepoint|safelinks|urldefense|headless|phantomjs|curl\/|wget|python|go-http-client|java\/|okhttp|axios|libwww|slack-img|whatsapp|facebookexternalhit/i

function findAutomatedReason(headers: IncomingHttpHeaders, userAgent: string | null): AutomatedReason | null {
  const purpose = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']].join(' ')
  if (/prefetch|prerender|preview/i.test(purpose)) return 'prefetch'
  if (userAgent === null) return 'no_user_agent'
  // The privacy proxy of Apple Mail sends this and nothing more.
  if (userAgent === 'Mozilla/5.0') return 'apple_mail_privacy'
  if (/GoogleImageProxy|ggpht\.com/i.test(userAgent)) return 'gmail_image_proxy'
  return SCANNER.test(userAgent) ? 'scanner' : null
}
