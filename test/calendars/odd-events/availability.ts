import {
  buildIcs,
  free,
  googleEvent,
  googleTimes,
  graphEvent,
  graphTimes,
  hours,
  icsFile,
  type OddEvent,
  odd,
  USER,
} from './odd-event.ts'

const BUSY = hours('06-04T07:00')
const FREE = free(BUSY)

const ics = (...lines: string[]) => buildIcs(['DTSTART:20270604T070000Z', 'DURATION:PT1H', ...lines])
const google = (members: object) => [
  googleEvent({ ...googleTimes('2027-06-04T09:00:00+02:00', '2027-06-04T10:00:00+02:00'), ...members }),
]
const graph = (members: object) =>
  graphEvent({ ...graphTimes('2027-06-04T07:00:00', '2027-06-04T08:00:00'), ...members })

/** An invitation to which this person responded. */
function invitation(email: string, partstat: string, google_: string, graph_: string) {
  const self = email === USER
  return {
    ics: ics(`ATTENDEE;PARTSTAT=${partstat}:MAILTO:${email.toUpperCase()}`),
    google: google({ attendees: [{ email, ...(self && { self }), responseStatus: google_ }] }),
    graph: graph({ attendees: [{ emailAddress: { address: email.toUpperCase() }, status: { response: graph_ } }] }),
  }
}

export const AVAILABILITY: readonly OddEvent[] = [
  odd('free', FREE, {
    ics: ics('TRANSP:TRANSPARENT'),
    google: google({ transparency: 'transparent' }),
    graph: graph({ showAs: 'free' }),
  }),
  odd('busy, where nothing says so', BUSY, {
    ics: ics(),
    google: google({}),
    graph: graph({ showAs: null }),
  }),
  odd('tentative', BUSY, {
    ics: ics('STATUS:TENTATIVE'),
    google: google({ status: 'tentative' }),
    graph: graph({ showAs: 'tentative' }),
  }),
  odd('out of office', BUSY, {
    ics: ics('TRANSP:OPAQUE', 'X-MICROSOFT-CDO-BUSYSTATUS:OOF'),
    google: google({ eventType: 'outOfOffice', transparency: 'opaque' }),
    graph: graph({ showAs: 'oof' }),
  }),
  odd('working elsewhere', FREE, {
    google: google({ eventType: 'workingLocation', transparency: 'transparent' }),
    graph: graph({ showAs: 'workingElsewhere' }),
  }),
  odd('a status that is unknown', BUSY, {
    ics: ics('TRANSP:PERHAPS', 'STATUS:PERHAPS'),
    google: google({ transparency: 'perhaps', status: 'perhaps' }),
    graph: graph({ showAs: 'unknown' }),
  }),
  odd('declined by the user', FREE, invitation(USER, 'DECLINED', 'declined', 'declined')),
  odd('declined by somebody else', BUSY, invitation('bob@example.com', 'DECLINED', 'declined', 'declined')),
  odd('tentatively accepted', BUSY, invitation(USER, 'TENTATIVE', 'tentative', 'tentativelyAccepted')),
  odd('without a response', BUSY, invitation(USER, 'NEEDS-ACTION', 'needsAction', 'notResponded')),
  // With "Save declined events" Outlook keeps them as free.
  odd('declined and kept', FREE, {
    graph: graph({ showAs: 'free', responseStatus: { response: 'declined', time: '2027-01-01T00:00:00Z' } }),
  }),
  odd('cancelled', [], {
    ics: ics('STATUS:CANCELLED'),
    google: google({ status: 'cancelled' }),
    graph: graph({ isCancelled: true, showAs: 'free' }),
  }),
  odd('small letters and spaces', FREE, { ics: ics('transp: transparent ') }),
  odd('intended as free, for Outlook alone', FREE, { ics: icsFile('intended-free') }),
  odd('free for Outlook, busy for everybody else', BUSY, {
    ics: ics('TRANSP:OPAQUE', 'X-MICROSOFT-CDO-BUSYSTATUS:FREE'),
  }),
]
