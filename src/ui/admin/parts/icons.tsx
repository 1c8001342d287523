import Activity from 'lucide-react/icons/activity'
import ArrowDown from 'lucide-react/icons/arrow-down'
import ArrowRight from 'lucide-react/icons/arrow-right'
import ArrowUp from 'lucide-react/icons/arrow-up'
import Bell from 'lucide-react/icons/bell'
import BookUser from 'lucide-react/icons/book-user'
import Building from 'lucide-react/icons/building-2'
import Calendar from 'lucide-react/icons/calendar'
import CalendarClock from 'lucide-react/icons/calendar-clock'
import Check from 'lucide-react/icons/check'
import ChevronDown from 'lucide-react/icons/chevron-down'
import ChevronLeft from 'lucide-react/icons/chevron-left'
import ChevronRight from 'lucide-react/icons/chevron-right'
import CircleCheck from 'lucide-react/icons/circle-check'
import CircleX from 'lucide-react/icons/circle-x'
import Clock from 'lucide-react/icons/clock'
import Copy from 'lucide-react/icons/copy'
import ExternalLink from 'lucide-react/icons/external-link'
import EyeOff from 'lucide-react/icons/eye-off'
import FilePen from 'lucide-react/icons/file-pen'
import GripVertical from 'lucide-react/icons/grip-vertical'
import Inbox from 'lucide-react/icons/inbox'
import Info from 'lucide-react/icons/info'
import KeyRound from 'lucide-react/icons/key-round'
import LayoutDashboard from 'lucide-react/icons/layout-dashboard'
import ListChecks from 'lucide-react/icons/list-checks'
import Filter from 'lucide-react/icons/list-filter'
import LogOut from 'lucide-react/icons/log-out'
import Mail from 'lucide-react/icons/mail'
import Mailbox from 'lucide-react/icons/mailbox'
import Moon from 'lucide-react/icons/moon'
import Palette from 'lucide-react/icons/palette'
import Paperclip from 'lucide-react/icons/paperclip'
import Pause from 'lucide-react/icons/pause'
import Play from 'lucide-react/icons/play'
import Plug from 'lucide-react/icons/plug'
import Plus from 'lucide-react/icons/plus'
import RefreshCw from 'lucide-react/icons/refresh-cw'
import RotateCcw from 'lucide-react/icons/rotate-ccw'
import RotateCcwClock from 'lucide-react/icons/rotate-ccw-clock'
import ScrollText from 'lucide-react/icons/scroll-text'
import Search from 'lucide-react/icons/search'
import Send from 'lucide-react/icons/send'
import Settings from 'lucide-react/icons/settings'
import ShieldCheck from 'lucide-react/icons/shield-check'
import Star from 'lucide-react/icons/star'
import Sun from 'lucide-react/icons/sun'
import Tag from 'lucide-react/icons/tag'
import Trash from 'lucide-react/icons/trash'
import TriangleExclamationPoint from 'lucide-react/icons/triangle-exclamation-point'
import User from 'lucide-react/icons/user'
import Webhook from 'lucide-react/icons/webhook'
import Zap from 'lucide-react/icons/zap'
import type { ReactNode } from 'react'

export type Icon = (props: { size?: number }) => ReactNode

/** Decoration: the control beside or around it has the name. */
function icon(Drawing: typeof Activity): Icon {
  return ({ size = 18 }) => <Drawing aria-hidden="true" size={size} strokeWidth={1.75} />
}

export const IconActivity = icon(Activity)
export const IconArrowDown = icon(ArrowDown)
export const IconArrowRight = icon(ArrowRight)
export const IconArrowUp = icon(ArrowUp)
export const IconBell = icon(Bell)
export const IconBookUser = icon(BookUser)
export const IconBuilding = icon(Building)
export const IconCalendar = icon(Calendar)
export const IconCalendarClock = icon(CalendarClock)
export const IconCheck = icon(Check)
export const IconChevronDown = icon(ChevronDown)
export const IconChevronLeft = icon(ChevronLeft)
export const IconChevronRight = icon(ChevronRight)
export const IconCircleCheck = icon(CircleCheck)
export const IconCircleX = icon(CircleX)
export const IconClock = icon(Clock)
export const IconCopy = icon(Copy)
export const IconExternalLink = icon(ExternalLink)
export const IconEyeOff = icon(EyeOff)
export const IconFilter = icon(Filter)
export const IconFilePen = icon(FilePen)
export const IconGripVertical = icon(GripVertical)
export const IconHistory = icon(RotateCcwClock)
export const IconInbox = icon(Inbox)
export const IconInfo = icon(Info)
export const IconKeyRound = icon(KeyRound)
export const IconLayoutDashboard = icon(LayoutDashboard)
export const IconListChecks = icon(ListChecks)
export const IconLogOut = icon(LogOut)
export const IconMail = icon(Mail)
export const IconMailbox = icon(Mailbox)
export const IconMoon = icon(Moon)
export const IconPalette = icon(Palette)
export const IconPaperclip = icon(Paperclip)
export const IconPause = icon(Pause)
export const IconPlay = icon(Play)
export const IconPlug = icon(Plug)
export const IconPlus = icon(Plus)
export const IconRefreshCw = icon(RefreshCw)
export const IconRotateCcw = icon(RotateCcw)
export const IconScrollText = icon(ScrollText)
export const IconSearch = icon(Search)
export const IconSend = icon(Send)
export const IconSettings = icon(Settings)
export const IconShieldCheck = icon(ShieldCheck)
export const IconStar = icon(Star)
export const IconSun = icon(Sun)
export const IconTag = icon(Tag)
export const IconTrash = icon(Trash)
export const IconTriangleAlert = icon(TriangleExclamationPoint)
export const IconUser = icon(User)
export const IconWebhook = icon(Webhook)
export const IconZap = icon(Zap)
