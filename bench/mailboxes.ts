import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The IMAP server with large mailboxes (`big-mailbox.ts`), in its own process. */
export interface Mailboxes {
  port: number
  empty(user: string): void
  stop(): void
}

export async function startMailboxes(): Promise<Mailboxes> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'bench/big-mailbox.ts'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [port] = await once(child.stdout, 'data')
  return {
    port: Number(String(port)),
    empty: (user) => void child.stdin.write(`empty ${user}\n`),
    stop: () => void child.kill(),
  }
}
