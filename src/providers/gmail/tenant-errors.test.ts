import { expect, it } from 'vitest'
import { delegationRefusal } from './tenant-errors.ts'

const SCOPES = 'https://www.googleapis.com/auth/gmail.modify https://www.googleapis.com/auth/calendar.events'

function refusal(error: string, description: string, hasUser = true) {
  const response = { error, description, detail: error, aadsts: [], temporary: undefined }
  return delegationRefusal(response, { scope: SCOPES, hasUser })
}

it.each([
  ['invalid_grant', 'Invalid JWT Signature.', 'serviceAccountKey', 'key of the service account was deleted'],
  ['invalid_grant', 'Invalid grant: account not found', 'serviceAccountKey', 'does not exist any more'],
  ['invalid_grant', 'Robot is disabled.', 'serviceAccountKey', 'the service account is disabled'],
  ['invalid_client', 'The OAuth client was not found.', 'serviceAccountKey', 'does not know the service account'],
  ['deleted_client', 'The OAuth client was deleted.', 'serviceAccountKey', 'was deleted'],
  ['disabled_client', 'The OAuth client was disabled.', 'serviceAccountKey', 'is disabled'],
  ['invalid_grant', 'Invalid email or User ID', 'email', 'no user with this address'],
  ['invalid_request', 'Invalid impersonation &quot;sub&quot; field.', 'email', 'no user with this address'],
  ['invalid_request', 'Invalid impersonation prn email address.', 'email', 'no user with this address'],
  ['invalid_grant', 'The account has been deleted', 'email', 'suspended or deleted'],
  ['access_denied', 'Account restricted', 'email', 'the user is restricted'],
  ['access_denied', 'Requested client not authorized', undefined, 'policy of the domain'],
  ['unauthorized_client', 'Unauthorized client or scope in request.', undefined, SCOPES.replace(' ', ',')],
  ['invalid_grant', 'Bad Request', undefined, 'refuses the service account'],
])('explains %s with "%s"', (error, description, credential, why) => {
  expect(refusal(error, description)).toMatchObject({
    kind: 'auth_expired',
    credential,
    message: expect.stringContaining(why),
  })
})

it.each(['The account has been deleted', 'Invalid email or User ID'])(
  'blames no user where the assertion names none: %s',
  (description) => {
    expect(refusal('invalid_grant', description, false)).toMatchObject({ kind: 'auth_expired', credential: undefined })
  },
)

it('takes no failure of Google for a refusal', () => {
  expect(refusal('invalid_grant', 'Invalid JWT: No valid verifier found for issuer.')).toBeUndefined()
  expect(refusal('something_new', 'What is this?')).toBeUndefined()
})
