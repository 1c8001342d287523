import { buildIcs, hours, icsFile, icsObject, type OddEvent, odd } from './odd-event.ts'

const MORNING = ['BEGIN:VEVENT', 'UID:1', 'DTSTART:20270604T070000Z', 'DURATION:PT1H', 'END:VEVENT']

/** Objects of servers that are odd as a whole. */
export const OBJECTS: readonly OddEvent[] = [
  odd('a byte order mark', hours('06-02T08:00'), { ics: icsFile('bom') }),
  odd('lines that end with CR alone', hours('06-04T07:00'), { ics: icsObject(...MORNING).replaceAll('\n', '') }),
  odd('two UIDs', hours('03-10T10:00', '03-11T10:00'), { ics: icsFile('two-uids-in-one-object') }),
  odd('two VCALENDARs', hours('06-03T07:00', '06-04T07:00'), {
    ics: [buildIcs(['DTSTART:20270603T070000Z', 'DURATION:PT1H']), icsObject(...MORNING.with(1, 'UID:2'))].join(''),
  }),
  odd('two series, one with an exception', hours('06-01T07:00', '06-01T09:00', '06-02T07:00', '06-02T15:00'), {
    ics: icsObject(
      'BEGIN:VEVENT',
      'UID:1',
      'DTSTART:20270601T070000Z',
      'DURATION:PT1H',
      'RRULE:FREQ=DAILY;COUNT=2',
      'END:VEVENT',
      'BEGIN:VEVENT',
      'UID:2',
      'DTSTART:20270601T090000Z',
      'DURATION:PT1H',
      'RRULE:FREQ=DAILY;COUNT=2',
      'END:VEVENT',
      'BEGIN:VEVENT',
      'UID:2',
      'RECURRENCE-ID:20270602T090000Z',
      'DTSTART:20270602T150000Z',
      'DURATION:PT1H',
      'END:VEVENT',
    ),
  }),
  odd('an attachment of more than a megabyte', hours('08-22T16:00'), {
    ics: buildIcs([
      'DTSTART;TZID=Europe/Berlin:20270822T180000',
      'DTEND;TZID=Europe/Berlin:20270822T190000',
      `ATTACH;ENCODING=BASE64;VALUE=BINARY:${'B'.repeat(1_150_000)}`,
    ]),
  }),
]
