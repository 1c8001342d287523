import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  Kbd,
  Menu,
  ScrollArea,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { useIsLive } from '../api/live.tsx'
import { type Session, useSession } from '../api/session.ts'
import { findPage, GROUPS, PAGES } from '../pages/index.ts'
import { IconLogOut, IconMoon, IconSearch, IconSun, IconUser } from '../parts/icons.tsx'
import { ZONE } from '../parts/time.tsx'
import { BrandMark } from './brand.tsx'
import { CommandPalette, openPalette } from './palette.tsx'
import { ToastSpace, Toasts } from './toasts.tsx'

const NAVBAR_WIDTH = 232
/** Below Mantine's `sm` the navigation is a page of its own. */
const PHONE = '(max-width: 47.99em)'

/** The navigation around every page. */
export function Shell({ session, children }: { session: Session; children: ReactNode }) {
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const place = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ? 'phone' : 'desktop'
  const [location] = useLocation()
  const previous = useRef(location)
  useEffect(() => {
    if (previous.current === location) return
    previous.current = location
    close()
    window.scrollTo(0, 0)
  }, [location, close])
  return (
    <AppShell
      header={{ height: { base: 56, sm: 0 } }}
      navbar={{ width: NAVBAR_WIDTH, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      transitionDuration={0}
    >
      <a href="#content" className="skip-link">
        Skip to the content
      </a>
      <AppShell.Header hiddenFrom="sm" className="shell-header">
        <Group h="100%" px="md" justify="space-between">
          <Brand />
          <Group gap="xs">
            <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Search" onClick={openPalette}>
              <IconSearch />
            </ActionIcon>
            <Burger
              opened={isOpen}
              onClick={toggle}
              size="sm"
              aria-label={isOpen ? 'Close the navigation' : 'Open the navigation'}
              aria-expanded={isOpen}
            />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className="shell-navbar" aria-label="Portal">
        <AppShell.Section px="md" pt={14} pb={12} visibleFrom="sm">
          <Group justify="space-between" wrap="nowrap" gap={8}>
            <Brand />
            <button type="button" className="nav-search" onClick={openPalette}>
              <IconSearch size={16} />
              <span className="visually-hidden">Search</span>
              <Kbd size="xs">Ctrl K</Kbd>
            </button>
          </Group>
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea} px="md" scrollbarSize={6}>
          <Navigation location={location} />
        </AppShell.Section>
        {place === 'desktop' && <ToastSpace place={place} />}
        <AppShell.Section px="md" py={8} className="shell-footer">
          <User session={session} />
        </AppShell.Section>
      </AppShell.Navbar>
      <Toasts place={place} width={NAVBAR_WIDTH - 24} />
      <AppShell.Main className="shell-main">
        {place === 'phone' && <ToastSpace place={place} />}
        <div className="shell-content" id="content" tabIndex={-1} style={{ outline: 'none' }}>
          {children}
        </div>
      </AppShell.Main>
      <CommandPalette />
    </AppShell>
  )
}

function Brand() {
  return (
    <Link href="/" className="brand">
      <BrandMark />
      Posthorn
    </Link>
  )
}

function Navigation({ location }: { location: string }) {
  const current = findPage(location)?.path
  const active = useRef<HTMLAnchorElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is another element.
  useEffect(() => {
    // Newer browsers return a promise here, which an effect must not.
    active.current?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return GROUPS.map((group, index) => {
    const pages = PAGES.filter((page) => page.group === group)
    const heading = `nav-${index}`
    return (
      <div key={group}>
        <div className={index === 0 ? 'visually-hidden' : 'nav-group'} id={heading}>
          {group}
        </div>
        <ul className="nav-list" aria-labelledby={heading}>
          {pages.map(({ path, title, icon: IconOf }) => (
            <li key={path}>
              <Link href={path} className="nav-link" {...(current === path && { 'aria-current': 'page', ref: active })}>
                {IconOf !== undefined && <IconOf />}
                {title}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    )
  })
}

function User({ session }: { session: Session }) {
  const { signOut } = useSession()
  const isLive = useIsLive()
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const other = scheme === 'dark' ? 'light' : 'dark'
  return (
    <Group justify="space-between" wrap="nowrap">
      <Menu position="top-start" width={210}>
        <Menu.Target>
          <button type="button" className="row-link">
            <Group gap={8} wrap="nowrap">
              <IconUser />
              <div className="user">
                <Text size="sm" className="truncate">
                  {session.username}
                </Text>
                <Text size="xs" c="dimmed" className="truncate" title={`Times are in ${ZONE}.`}>
                  {ZONE.replaceAll('_', ' ')}
                </Text>
              </div>
            </Group>
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconLogOut size={16} />} onClick={() => void signOut()}>
            Sign out
          </Menu.Item>
          <Menu.Item leftSection={<IconLogOut size={16} />} onClick={() => void signOut(true)}>
            Sign out everywhere
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Group gap={10} wrap="nowrap">
        <Tooltip
          label={isLive ? 'Live: changes appear by themselves' : 'Not live: the page asks for changes every 10 seconds'}
        >
          <span
            className="live-dot"
            data-live={isLive || undefined}
            role="img"
            aria-label={isLive ? 'Live' : 'Not live'}
          />
        </Tooltip>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Use ${other} colours`}
          onClick={() => setColorScheme(other)}
        >
          {scheme === 'dark' ? <IconSun /> : <IconMoon />}
        </ActionIcon>
      </Group>
    </Group>
  )
}
