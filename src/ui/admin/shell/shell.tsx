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
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { useIsLive } from '../api/live.tsx'
import { type Session, useSession } from '../api/session.ts'
import { findPage, GROUPS, PAGES } from '../pages/index.ts'
import { IconLogOut, IconMoon, IconSearch, IconSun, IconUser } from '../parts/icons.tsx'
import { BrandMark } from './brand.tsx'
import { CommandPalette, openPalette } from './palette.tsx'

/** The navigation around every page. */
export function Shell({ session, children }: { session: Session; children: ReactNode }) {
  const [isOpen, { toggle, close }] = useDisclosure(false)
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
      navbar={{ width: 244, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
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
        <AppShell.Section p="md" pb={0} visibleFrom="sm">
          <Brand />
          <button type="button" className="nav-search" onClick={openPalette} style={{ marginTop: 16 }}>
            <IconSearch size={16} />
            Search
            <Kbd size="xs">Ctrl K</Kbd>
          </button>
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea} p="md" pt={0} scrollbarSize={6}>
          <Navigation location={location} />
        </AppShell.Section>
        <AppShell.Section p="md" className="shell-header" style={{ borderTop: '1px solid var(--portal-line)' }}>
          <User session={session} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main className="shell-main">
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
  const current = findPage(location)
  return GROUPS.map((group) => {
    const pages = PAGES.filter((page) => page.group === group)
    if (pages.length === 0) return null
    const heading = `nav-${group.toLowerCase()}`
    return (
      <div key={group}>
        <div className="nav-group" id={heading}>
          {group}
        </div>
        <ul className="nav-list" aria-labelledby={heading}>
          {pages.map(({ path, title, icon: IconOf }) => (
            <li key={path}>
              <Link href={path} className="nav-link" aria-current={current?.path === path ? 'page' : undefined}>
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
              <Text size="sm" className="truncate" maw={110}>
                {session.username}
              </Text>
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
