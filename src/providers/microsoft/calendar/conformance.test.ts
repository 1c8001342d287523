import { microsoftCalendarFixture } from '../../../../test/servers/microsoft-calendars.ts'
import { calendarConformance } from '../../contract/calendar-conformance.ts'

calendarConformance('Microsoft', microsoftCalendarFixture)
