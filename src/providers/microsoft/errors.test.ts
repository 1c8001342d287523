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

  it('of denied access say what an administrator checks when the token belongs to an application', () => {
    const denied = response(403, 'ErrorAccessDenied')
    expect(graphError(denied, 'reading', 0, 'application')).toMatchObject({
      kind: 'rejected',
      missingScope: true,
      message: expect.stringMatching(
        /application permissions.*RBAC for Applications.*Test-ServicePrincipalAuthorization/,
      ),
    })
    expect(graphError(denied, 'reading', 0).message).not.toContain('RBAC')
  })

  it('of denied access say what the user of a shared mailbox needs in Exchange', () => {
    const error = graphError(response(403, 'ErrorAccessDenied'), 'reading', 0, 'person')
    expect(error).toMatchObject({ missingScope: true, message: expect.stringMatching(/Exchange.*Full Access.*Shared/) })
  })

  it('of the directory say that the mailbox of somebody else is gone, and are no message of the own one', () => {
    const unknown = response(404, 'Request_ResourceNotFound')
    const gone = { kind: 'rejected', missingScope: true, message: expect.stringContaining('does not exist any more') }
    expect(graphError(unknown, 'reading', 0, 'person')).toMatchObject(gone)
    expect(graphError(unknown, 'reading', 0, 'application')).toMatchObject(gone)
    expect(graphError(unknown, 'reading', 0)).toMatchObject({ kind: 'not_found' })
  })
})
