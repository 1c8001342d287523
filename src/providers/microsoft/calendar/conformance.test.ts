import { microsoftCalendarFixture } from '../../../../test/servers/microsoft-calendars.ts'
import { calendarConformance } from '../../conformance/calendar.ts'

calendarConformance('Microsoft', () => microsoftCalendarFixture())
calendarConformance('a tenant at Microsoft', () => microsoftCalendarFixture('tenant'))
