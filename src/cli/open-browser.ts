import { spawn } from 'node:child_process'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Opens the URL in the default browser of a desktop. Returns false, without opening anything, where no browser can appear in front of the
 * person: without a desktop, over SSH and in CI. A browser that fails to start is not reported, so show the URL as well.
 */
export function openBrowser(url: string, environment: Environment): boolean {
  const command = browserCommand(environment)
  if (command === undefined) return false
  const [program, ...args] = command
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  // The browser outlives this process.
  child.unref()
  return true
}

function browserCommand({ CI, DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION }: Environment) {
  if (isSet(CI)) return undefined
  const isRemote = isSet(SSH_CONNECTION)
  if (process.platform === 'darwin') return isRemote ? undefined : (['open'] as const)
  if (process.platform === 'win32') return isRemote ? undefined : (['rundll32', 'url.dll,FileProtocolHandler'] as const)
  // Over SSH, DISPLAY is set only when windows are forwarded.
  return isSet(DISPLAY) || isSet(WAYLAND_DISPLAY) ? (['xdg-open'] as const) : undefined
}

const isSet = (value: string | undefined) => value !== undefined && value !== '' && value !== 'false'
