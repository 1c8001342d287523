import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The seed of every random choice in this run. */
    seed: number
  }
}

/** Provides the seed of the run, from TEST_SEED or random. */
export default function setup(project: TestProject): void {
  const seed = parseSeed(process.env.TEST_SEED)
  project.provide('seed', seed)
  console.log(`Random tests use the seed ${seed}; repeat them with TEST_SEED=${seed}.`)
}

function parseSeed(text: string | undefined): number {
  if (text === undefined || text === '') return Math.floor(Math.random() * 2 ** 31)
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 31) return Number(text)
  throw new Error(`TEST_SEED is "${text}"; it must be a whole number below 2,147,483,648.`)
}
