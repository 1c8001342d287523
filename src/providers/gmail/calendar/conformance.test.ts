import { googleCalendarFixture } from '../../../../test/servers/google-calendars.ts'
import { calendarConformance } from '../../conformance/calendar.ts'

calendarConformance('Google', () => googleCalendarFixture())
calendarConformance('a tenant at Google', () => googleCalendarFixture('tenant'))
