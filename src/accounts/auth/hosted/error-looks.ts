import type { ErrorCode } from '../../../platform/errors/app-error.ts'
import type { ErrorPage, TextKey } from '../../../ui/hosted/index.ts'

type TextName = TextKey extends infer Key ? (Key extends `${infer Name}.title` ? Name : never) : never

interface ErrorLook extends Pick<ErrorPage, 'icon' | 'alarming'> {
  /** `<name>.title` and `<name>.text` say what happened, and what the user can do about it. */
  texts: TextName & (TextKey extends infer Key ? (Key extends `${infer Name}.text` ? Name : never) : never)
}

/** How the error page shows each code. */
export const ERROR_LOOKS: { readonly [Code in ErrorCode]?: ErrorLook } = {
  session_used: { icon: 'check', texts: 'session_used' },
  session_expired: { icon: 'clock', texts: 'session_expired' },
  not_found: { icon: 'link', texts: 'not_found' },
  route_not_found: { icon: 'link', texts: 'route_not_found' },
  csrf_failed: { icon: 'lock', texts: 'open_again' },
  unauthorized: { icon: 'lock', texts: 'open_again' },
  consent_denied: { icon: 'lock', texts: 'consent_denied' },
  consent_incomplete: { icon: 'alert', texts: 'consent_incomplete' },
  consent_unknown: { icon: 'link', texts: 'consent_unknown' },
  consent_used: { icon: 'clock', texts: 'consent_used' },
  consent_failed: { icon: 'alert', alarming: true, texts: 'consent_failed' },
  consent_refused: { icon: 'alert', alarming: true, texts: 'consent_refused' },
  mailbox_refused: { icon: 'mail', texts: 'mailbox_refused' },
  mailbox_mismatch: { icon: 'mail', texts: 'mailbox_mismatch' },
  rate_limited: { icon: 'clock', texts: 'rate_limited' },
  licence_limit: { icon: 'alert', alarming: true, texts: 'licence_limit' },
  database_unavailable: { icon: 'clock', texts: 'unavailable' },
  payload_too_large: { icon: 'alert', texts: 'too_large' },
  malformed_json: { icon: 'alert', texts: 'damaged' },
  unsupported_media_type: { icon: 'alert', texts: 'damaged' },
  method_not_allowed: { icon: 'link', texts: 'wrong_method' },
  validation_failed: { icon: 'link', texts: 'incomplete' },
}

export const FALLBACK_LOOK: ErrorLook = { icon: 'alert', alarming: true, texts: 'failed' }
