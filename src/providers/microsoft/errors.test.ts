import { describe, expect, it } from 'vitest'
import { graphError } from './errors.ts'

const response = (status: number, code: string, headers = {}) => ({ status, headers, body: { error: { code } } })

describe('errors of Graph', () => {
  it.each(['ErrorMailboxMoveInProgress', 'ErrorMailboxStoreUnavailable', 'serviceNotAvailable'])(
    'keep the Retry-After of a 503 with %s',
    (code) => {
      const error = graphError(response(503, code, { 'retry-after': '30' }), 'asking', 0)
      expect(error).toMatchObject({ kind: 'unavailable', retryAfterMs: 30_000 })
    },
  )

  it.each([
    [429, 'ErrorExceededMessageLimit', true, /limit of messages/],
    [403, 'ErrorExceededMaxRecipientLimitShowTierUpgrade', true, /limit of messages/],
    [403, 'ErrorSubmissionQuotaExceeded', true, /limit of messages/],
    [507, 'ErrorQuotaExceeded', true, /mailbox is full/],
    [400, 'ErrorMessageSizeExceeded', false, /larger/],
    [413, 'BadRequest', false, /larger/],
    [400, 'ErrorInvalidRecipients', false, /recipient/],
    [403, 'ErrorSendAsDenied', false, /from this mailbox.*Send As/],
    [403, 'ErrorAccountSuspend', false, /sign in to Outlook/],
  ])('of sending say what to do: %i %s', (status, code, maySucceedLater, message) => {
    const error = graphError(response(status, code, { 'retry-after': '30' }), 'sending', 0)
    expect(error).toMatchObject({ kind: 'rejected', maySucceedLater, message: expect.stringMatching(message) })
  })

  it.each([
    ['POST', '/users/1/messages/2/send', 'Mail.Send'],
    ['PATCH', '/users/1/messages/2', 'Mail.ReadWrite'],
    ['GET', '/users/1/mailFolders/inbox?$select=id', 'Mail.Read or Mail.ReadWrite'],
    ['POST', '/users/1/calendar/getSchedule', 'Calendars.Read or Calendars.ReadWrite'],
    ['DELETE', '/users/1/events/2', 'Calendars.ReadWrite'],
    ['PATCH', '/me/contacts/send', 'Contacts.ReadWrite'],
  ])('of denied access name the permission of %s %s, and what an administrator checks', (method, path, permission) => {
    const denied = response(403, 'ErrorAccessDenied')
    const application = graphError(denied, 'reading', 0, { method, path, opener: 'application' })
    expect(application).toMatchObject({ kind: 'rejected', missingScope: true, isOfApplication: true })
    expect(application.message).toContain(`the application permission ${permission}, or`)
    expect(application.message).toMatch(/RBAC for Applications.*Test-ServicePrincipalAuthorization/)
    const person = graphError(denied, 'reading', 0, { method, path })
    expect(person).toMatchObject({ missingScope: true, isOfApplication: false })
    expect(person.message).toMatch(new RegExp(`granted the scope ${permission}$`))
  })

  it('of denied access name all permissions where the request says nothing', () => {
    const request = { method: 'POST', path: '/$batch', opener: 'application' } as const
    const { message } = graphError(response(403, 'ErrorAccessDenied'), 'reading', 0, request)
    expect(message).toContain('Mail.ReadWrite, Mail.Send, Calendars.ReadWrite or Contacts.ReadWrite')
  })

  it('of denied access say what the user of a shared mailbox needs in Exchange', () => {
    const error = graphError(response(403, 'ErrorAccessDenied'), 'reading', 0, { opener: 'person' })
    expect(error).toMatchObject({ missingScope: true, message: expect.stringMatching(/Exchange.*Full Access.*Shared/) })
    const request = { method: 'POST', path: '/users/1/messages/2/send', opener: 'person' } as const
    const { message } = graphError(response(403, 'ErrorAccessDenied'), 'sending', 0, request)
    expect(message).toMatch(/granted Mail\.Send\.Shared$/)
  })

  it('of the directory say that the mailbox of somebody else is gone, and are no message of the own one', () => {
    const unknown = response(404, 'Request_ResourceNotFound')
    const gone = { kind: 'rejected', missingScope: true, message: expect.stringContaining('does not exist any more') }
    expect(graphError(unknown, 'reading', 0, { opener: 'person' })).toMatchObject(gone)
    expect(graphError(unknown, 'reading', 0, { opener: 'application' })).toMatchObject(gone)
    expect(graphError(unknown, 'reading', 0)).toMatchObject({ kind: 'not_found' })
  })
})
