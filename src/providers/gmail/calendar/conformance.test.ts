import { googleCalendarFixture } from '../../../../test/servers/google-calendars.ts'
import { calendarConformance } from '../../contract/calendar-conformance.ts'

calendarConformance('Google', googleCalendarFixture)
