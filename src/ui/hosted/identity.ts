import { type Html, html } from '../../platform/formats/html.ts'
import { hidden } from './fields.ts'
import { providerMark } from './icons.ts'
import type { Translate } from './texts/index.ts'

interface Identity {
  email: string
  /** Name of the mail provider, if known. */
  provider?: string | undefined
  /** The mail server that was found, and whether the user may change it. */
  host?: string | undefined
}

/** The mailbox, as text: the user changes it in the first step. */
export function identity(t: Translate, { email, provider, host }: Identity): Html {
  return html`<div class="identity"><span class="tile">${providerMark(provider)}</span><div><p class="address">${email}</p>${
    host !== undefined &&
    html`<p class="server"><span>${t.html('imap.server', { host: html`<bdi>${host}</bdi>` })}</span> ${editButton('server', html`${t('imap.edit')}`)}</p>`
  }</div></div>`
}

/**
 * A button of the form below, which is apart from the sign-in: the Enter key must press "Connect mailbox", and the first
 * button of a form is the one that it presses.
 */
export function editButton(what: 'address' | 'server' | 'password', label: Html, look = 'link'): Html {
  const script = what === 'server' && look === 'link' && html` data-opens="settings"`
  return html`<button class="${look}" type="submit" form="edit" name="edit" value="${what}"${script}>${label}</button>`
}

/** Returns to the first step, for another address or another server. */
export function editForm(page: { editAction: string; session: string; state: string }, email: string): Html {
  return html`<form id="edit" method="post" action="${page.editAction}" hidden>${hidden('session', page.session)}${hidden(
    'state',
    page.state,
  )}${hidden('email', email)}${hidden('provider', 'imap')}</form>`
}
