import type { ErrorCode } from '../../../lib/errors.ts'
import type { ErrorPage } from '../../../ui/hosted/index.ts'

type ErrorText = Pick<ErrorPage, 'icon' | 'title' | 'text' | 'alarming'>

const OPEN_AGAIN: ErrorText = {
  icon: 'lock',
  title: 'Please open the link again',
  text: 'For your security, each step must continue in the browser that opened the link, and within a limited time. Nothing was submitted.',
}

/** What the error page says for each code: what happened, and what the user can do about it. */
export const ERROR_TEXTS: { readonly [Code in ErrorCode]?: ErrorText } = {
  session_used: {
    icon: 'check',
    title: 'This link has been used',
    text: 'A mailbox was connected through it. To connect another one, ask for a new link in the app that sent you here.',
  },
  session_expired: {
    icon: 'clock',
    title: 'This link has expired',
    text: 'For your security, links work for a limited time. Return to the app that sent you here and start again.',
  },
  not_found: {
    icon: 'link',
    title: 'This link is not valid',
    text: 'Part of it may be missing. Open the full link again, or ask for a new one.',
  },
  route_not_found: {
    icon: 'link',
    title: 'Page not found',
    text: 'There is no page at this address. Return to the app that sent you here and start again.',
  },
  csrf_failed: OPEN_AGAIN,
  unauthorized: OPEN_AGAIN,
  consent_denied: {
    icon: 'lock',
    title: 'Access was not granted',
    text: 'No mailbox was connected. To connect yours, try again and allow access.',
  },
  consent_incomplete: {
    icon: 'alert',
    title: 'A permission is missing',
    text: 'Connecting your mailbox requires permission to read it. Try again and leave every box checked.',
  },
  consent_unknown: {
    icon: 'link',
    title: 'This sign-in is not valid',
    text: 'It was not started here. Return to the app that sent you here and start again.',
  },
  consent_used: {
    icon: 'clock',
    title: 'This sign-in is no longer valid',
    text: 'It was already used, or it took too long. Open the link from the app that sent you here again.',
  },
  consent_failed: {
    icon: 'alert',
    alarming: true,
    title: 'Your email provider had a problem',
    text: 'Your provider could not complete the sign-in. Try again in a moment.',
  },
  consent_refused: {
    icon: 'alert',
    alarming: true,
    title: 'This app is not set up correctly',
    text: 'Your email provider cannot be connected, for a reason that you cannot change. Contact the people who run the app.',
  },
  mailbox_refused: {
    icon: 'mail',
    title: 'The mailbox could not be opened',
    text: 'You signed in, but your email provider has no mailbox for this account. If you have another account, try again with that one.',
  },
  rate_limited: {
    icon: 'clock',
    title: 'Too many attempts',
    text: 'Wait a few minutes, then try again. If it still does not work, ask for a new link.',
  },
  licence_limit: {
    icon: 'alert',
    alarming: true,
    title: 'This app has reached its mailbox limit',
    text: 'It cannot connect another mailbox. Contact the people who run the app.',
  },
  database_unavailable: {
    icon: 'clock',
    title: 'Please try again in a moment',
    text: 'The service is temporarily unavailable. Your link still works: open it again in a minute.',
  },
  payload_too_large: {
    icon: 'alert',
    title: 'That is too much text',
    text: 'Nothing was submitted. Go back, shorten the longest field and try again.',
  },
  malformed_json: {
    icon: 'alert',
    title: 'This request is not valid',
    text: 'It was damaged on the way. Open the link from the app that sent you here again.',
  },
  unsupported_media_type: {
    icon: 'alert',
    title: 'This request is not valid',
    text: 'Open the link from the app that sent you here again.',
  },
  method_not_allowed: {
    icon: 'link',
    title: 'This page cannot be opened directly',
    text: 'Open the link from the app that sent you here again.',
  },
  validation_failed: {
    icon: 'link',
    title: 'This link is incomplete',
    text: 'Part of it is missing. Open the full link again, or ask for a new one.',
  },
}

export const FALLBACK_TEXT: ErrorText = {
  icon: 'alert',
  alarming: true,
  title: 'Something went wrong',
  text: 'The problem is on our side. Try again in a moment.',
}
