import { googleCalendarFixture } from '../../../../test/servers/google-calendars.ts'
import { calendarConformance } from '../../conformance/calendar.ts'

calendarConformance('Google', googleCalendarFixture)
