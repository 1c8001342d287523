import { spawn } from 'node:child_process'

/** Opens the URL in the default browser when a person with a desktop started the demo. A failure is ignored: the URL is on screen. */
export function openOnDesktop(url: string, environment: NodeJS.ProcessEnv): void {
  const command = commandOf(environment)
  if (command === undefined || !process.stdout.isTTY || isSet(environment.CI)) return
  const [program, ...args] = command
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  // The browser outlives the demo.
  child.unref()
}

function commandOf({ DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv): [string, ...string[]] | undefined {
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return isSet(DISPLAY) || isSet(WAYLAND_DISPLAY) ? ['xdg-open'] : undefined
}

const isSet = (value: string | undefined) => value !== undefined && value !== '' && value !== 'false'
