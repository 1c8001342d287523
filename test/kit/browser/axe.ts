import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { lazy } from '../../../src/platform/concurrency/lazy.ts'

const source = lazy(() => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))

export interface AxeOptions {
  /** CSS selectors of parts that are not checked. */
  exclude?: readonly string[]
  /** False omits the rule for targets of at least 24 px, which axe-core does not check by default. */
  targetSizes?: boolean
}

/**
 * Runs axe-core on the page. Returns `rule: first element, number of elements`. Takes about 0.1 s per thousand elements. Ends the
 * transitions that run, in which colours are between two others.
 */
export async function axeViolations(
  page: Pick<Page, 'evaluate'>,
  { exclude = [], targetSizes = true }: AxeOptions = {},
): Promise<string[]> {
  const context = JSON.stringify({ exclude: exclude.map((selector) => [selector]) })
  const options = JSON.stringify({
    preload: false,
    resultTypes: ['violations'],
    rules: { 'target-size': { enabled: targetSizes } },
  })
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(source())
  return page.evaluate(`${END_TRANSITIONS};
axe.run(${context}, ${options}).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes[0].html + ', ' + nodes.length))`)
}

const END_TRANSITIONS = `document
  .getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
  .forEach((animation) => animation.finish())`
