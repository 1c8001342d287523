// Findings that are no faults, each with the reason.

const BROKEN_RESPONSE = 'A test plays a server whose response is broken.'
const JUDGED = [
  {
    isOfBothSides: true,
    where: /^(GET|PATCH) .*\/events\/\{eventId\}$/,
    what: /^unknown property \.attendees\[\]\.future$/,
    example: /^(\{"seat":"window"\}|kept)$/,
    reason: 'A test plays an attribute that Google may add, which a change has to keep.',
  },
  { where: /gmail/, what: /^200 without JSON$/, example: /^(\{"value":\[\{"id":|<html>)/, reason: BROKEN_RESPONSE },
  { where: /history$/, what: /^\.history is no array$/, example: /^x$/, reason: BROKEN_RESPONSE },
  { where: /history$/, what: /^\.historyId is no uint64$/, example: /^abc$/, reason: BROKEN_RESPONSE },
  { where: /messages\/\{id\}$/, what: /without an error object$/, example: /"id":"gone"/, reason: BROKEN_RESPONSE },
  {
    where: /^GET \/me(\/mailFolders\/\{id\})?$/,
    what: /^200 without JSON$/,
    example: /^\{"value":\[\{"id":$/,
    reason: BROKEN_RESPONSE,
  },
  {
    where: /^GET \/me\/(mailFolders\/\{id\}|messages)$/,
    what: /^error 401 without code and message$/,
    example: /^$/,
    reason: 'Users without a licence get a 401 without a body.',
  },
  {
    where: /^POST \/me\/calendars\/\{id\}\/events$/,
    what: /^status 200/,
    example: /^$/,
    reason: 'The status for a transactionId that was used before is not documented.',
  },
  { where: /events\/\{id\}$/, what: /^\.location is no object$/, example: /^Berlin$/, reason: BROKEN_RESPONSE },
  { where: /events\/\{id\}$/, what: /^\.recurrence is no object$/, example: /^\[\]$/, reason: BROKEN_RESPONSE },
]

/** Why a finding is no fault. Undefined for a fault. */
export function judge({ side, where, what, example }) {
  return JUDGED.find(
    (pattern) =>
      (side === 'response' || pattern.isOfBothSides) &&
      pattern.where.test(where) &&
      pattern.what.test(what) &&
      pattern.example.test(example),
  )?.reason
}
