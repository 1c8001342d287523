import { html } from '../../platform/formats/html.ts'
import { ICONS } from '../hosted/index.ts'
import { type BookingContext, bookingDocument } from './layout.ts'
import type { BookingTextKey } from './texts/index.ts'

export interface BookingErrorPage {
  texts: 'link' | 'gone' | 'busy' | 'limited' | 'failed' | 'unchangeable'
  /** Error code and request id, which the visitor can quote to support. */
  code: string
  requestId: string
}

/** Explains what failed and what the visitor can do. */
export function bookingErrorPage(context: BookingContext, { texts, code, requestId }: BookingErrorPage): string {
  const { t } = context
  const title: BookingTextKey = `${texts}.title`
  const text: BookingTextKey = `${texts}.text`
  return bookingDocument(context, {
    title: t(title),
    isPrivate: true,
    body: html`<div class="centred"><div class="badge">${texts === 'link' || texts === 'gone' ? ICONS.link : ICONS.alert}</div>
<h1>${t(title)}</h1>
<p class="lead" role="alert" data-code="${code}">${t(text)}</p>
<p class="small"><span>${code}</span> <span>${requestId}</span></p></div>`,
  })
}
