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
    expect(graphError(denied, 'reading', 0, true)).toMatchObject({
      kind: 'rejected',
      missingScope: true,
      message: expect.stringMatching(
        /application permissions.*RBAC for Applications.*Test-ServicePrincipalAuthorization/,
      ),
    })
    expect(graphError(denied, 'reading', 0).message).not.toContain('RBAC')
  })
})
