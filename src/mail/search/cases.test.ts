import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { searching, type Written } from '../../../test/kit/messages/searching.ts'
import type { SearchWords } from './contract.ts'

/** The messages of the mailbox, by the name under which the cases expect them. */
const MESSAGES: Record<string, Written> = {
  invoice: {
    subject: 'Invoice 2026-0815 for November',
    text: 'Please find attached our invoice. Total: 1,234.56 EUR, due on 2026-12-01. No. RE/4711-B.',
    from: { name: 'Northwind Billing', email: 'billing@northwind.example' },
    to: [{ name: 'Ada Okafor', email: 'ada@acme.example' }],
    attachments: ['rechnung_2026-0815.pdf'],
  },
  reply: {
    subject: 'Re: Invoice 2026-0815 for November',
    text: "Thank you, it will be paid this week. Don't worry.",
    from: { name: 'Ada Okafor', email: 'ada@acme.example' },
    to: [{ name: '', email: 'billing@northwind.example' }],
    cc: [{ name: "Sinéad O'Brien", email: 'sinead.obrien@acme.example' }],
  },
  german: { subject: 'Grüße aus der Hauptstraße', text: 'Die Größe passt. Viele Grüße, Jörg Müller' },
  french: { subject: 'Déjeuner à Nîmes', text: "L’été prochain, l'hôtel œuvre pour vous. Ça va, garçon?" },
  polish: { subject: 'Zażółć gęślą jaźń', text: 'Łódź, Kraków', from: 'zofia@przykład.example' },
  turkish: { subject: 'İstanbul ve Iğdır', text: 'ISPARTA ılık' },
  greek: { subject: 'Ο ΣΊΣΥΦΟΣ', text: 'Καλημέρα' },
  russian: { subject: 'Ещё один счёт', text: 'Привет, Мир' },
  japanese: { subject: '東京都で会議', text: '来週の水曜日に集まりましょう。プロジェクトのスケジュール' },
  apart: { subject: '何曜日か', text: '日曜は休み。大阪府、阪府大' },
  chinese: { subject: '关于合同的问题', text: '请查收附件中的发票，谢谢。' },
  korean: { subject: '서울에서 회의', text: '다음 주 수요일에 만나요' },
  thai: { subject: 'ใบแจ้งหนี้เดือนนี้', text: 'กรุณาชำระเงินภายในวันศุกร์' },
  arabic: { subject: 'فاتورة شهر نوفمبر', text: 'السَّلامُ عليكم، أحمد رقم ٢٠٢٦' },
  hebrew: { subject: 'שָׁלוֹם', text: 'חשבונית מס' },
  hindi: { subject: 'बैठक का समय', text: 'नमस्ते दुनिया' },
  emoji: { subject: 'Party 🎉', text: 'See you there 👍🏽 👩‍💻 🇩🇪' },
  code: {
    subject: 'Build #4821 failed',
    text: 'Error in src/app/main.ts: cannot read x_y-z of node_modules, C++ and C#',
  },
  long: { subject: `Token ${'x'.repeat(150)}end`, text: `${'會'.repeat(200)} Donaudampfschifffahrtsgesellschaft` },
  wide: { subject: 'ＦＵＬＬ ｗｉｄｔｈ ﬁne ½', text: 'ｶﾞｰﾄﾞ ko\u00adope\u00adration' },
  operators: {
    subject: 'cats AND dogs NOT birds',
    text: 'a NEAR b OR c; near-sighted -minus (group) "quoted" col:value star*',
  },
}

const CASES: [SearchWords, string[]][] = [
  // Words, case, prefix, AND
  [{ q: 'invoice' }, ['invoice', 'reply']],
  [{ q: 'INVOICE november' }, ['invoice', 'reply']],
  [{ q: 'inv' }, ['invoice', 'reply']],
  [{ q: 'inv november' }, []],
  [{ q: 'paid invoice' }, ['reply']],
  [{ q: 'nvoice' }, []],
  [{ q: 'invoice unicorn' }, []],
  [{ q: ' \t invoice \n' }, ['invoice', 'reply']],
  // Numbers and identifiers
  [{ q: '2026-0815' }, ['invoice', 'reply']],
  [{ q: '0815' }, ['invoice', 'reply']],
  [{ q: '1,234.56' }, ['invoice']],
  [{ q: 'RE/4711-B' }, ['invoice']],
  [{ q: 'rechnung_2026-0815.pdf' }, ['invoice']],
  [{ q: '#4821' }, ['code']],
  [{ q: 'src/app/main.ts' }, ['code']],
  [{ q: 'node_modules' }, ['code']],
  // Addresses
  [{ q: 'billing@northwind.example' }, ['invoice', 'reply']],
  [{ q: 'ada@acme.exam' }, ['invoice', 'reply']],
  [{ q: 'northwind.example' }, ['invoice', 'reply']],
  [{ q: 'billing@acme.example' }, []],
  [{ q: 'Ada Okafor <ada@acme.example>' }, ['invoice', 'reply']],
  [{ q: 'zofia@przyklad.example' }, ['polish']],
  [{ from: 'ada@acme.example' }, ['reply']],
  [{ from: 'okafor' }, ['reply']],
  [{ from: 'northwind' }, ['invoice']],
  [{ to: 'ada' }, ['invoice']],
  [{ to: "sinead o'brien" }, ['reply']],
  [{ from: 'billing', to: 'ada', subject: 'invoice', q: 'attached' }, ['invoice']],
  [{ subject: 'attached' }, []],
  [{ subject: 'november' }, ['invoice', 'reply']],
  // Apostrophes
  [{ q: "don't" }, ['reply']],
  [{ q: 'obrien' }, ['reply']],
  [{ q: 'O’Brien' }, ['reply']],
  [{ q: 'hotel' }, ['french']],
  [{ q: "l'ete" }, ['french']],
  // Accents, ligatures, ß
  [{ q: 'grusse' }, ['german']],
  [{ q: 'GRÜSSE' }, ['german']],
  [{ q: 'hauptstrasse' }, ['german']],
  [{ q: 'groß' }, ['german']],
  [{ q: 'oeuvre dejeuner' }, ['french']],
  [{ q: 'garcon' }, ['french']],
  [{ q: 'zazolc jazn' }, ['polish']],
  [{ q: 'lodz' }, ['polish']],
  [{ q: 'istanbul igdir' }, ['turkish']],
  [{ q: 'Isparta ILIK' }, ['turkish']],
  [{ q: 'σισυφος' }, ['greek']],
  [{ q: 'еще счет' }, ['russian']],
  [{ q: 'МИР' }, ['russian']],
  [{ q: 'full width fine' }, ['wide']],
  [{ q: 'kooperation' }, ['wide']],
  // Scripts without spaces
  [{ q: '会議' }, ['japanese']],
  [{ q: '京都' }, ['japanese']],
  [{ q: '議' }, ['japanese']],
  [{ q: '会 東京' }, ['japanese']],
  [{ q: 'スケジュール' }, ['japanese']],
  [{ q: '曜日' }, ['japanese', 'apart']],
  [{ q: '日曜' }, ['apart']],
  [{ q: '日曜日' }, []],
  [{ q: '水曜日に集' }, ['japanese']],
  [{ q: '水曜日は' }, []],
  [{ q: 'ガード' }, ['wide']],
  [{ q: '发票' }, ['chinese']],
  [{ q: '票发' }, []],
  [{ q: '회의' }, ['korean']],
  [{ q: '수요일' }, ['korean']],
  [{ q: 'หนี้' }, ['thai']],
  [{ q: 'วันศุกร์' }, ['thai']],
  // Right to left, Hindi, other digits
  [{ q: 'السلام' }, ['arabic']],
  [{ q: 'احمد' }, ['arabic']],
  [{ q: '2026 فاتورة' }, ['arabic']],
  [{ q: 'שלום' }, ['hebrew']],
  [{ q: 'समय' }, ['hindi']],
  [{ q: 'सम' }, ['hindi']],
  // Emoji
  [{ q: '🎉' }, ['emoji']],
  [{ q: 'party 👍' }, ['emoji']],
  [{ q: '👩‍💻' }, ['emoji']],
  [{ q: '🇩🇪' }, ['emoji']],
  [{ q: '🎂' }, []],
  // Very long words
  [{ q: 'x'.repeat(120) }, ['long']],
  [{ q: '會'.repeat(120) }, ['long']],
  [{ q: 'donaudampfschiff' }, ['long']],
  // Operators of both engines
  [{ q: 'cats AND dogs' }, ['operators']],
  [{ q: 'cats AND NOT dogs' }, ['operators']],
  [{ q: 'cats NOT fish' }, []],
  [{ q: '"dogs cats"' }, ['operators']],
  [{ q: 'cats & dogs | !birds' }, ['operators']],
  [{ q: 'dogs <-> cats' }, ['operators']],
  [{ q: 'col:value*' }, ['operators']],
  [{ q: 'terms:cats ^cats' }, []],
  [{ q: 'NEAR(a b, 3)' }, []],
  [{ q: "' or 1=1 --" }, []],
  [{ q: '-minus +group (quoted)' }, ['operators']],
  [{ q: 'star*' }, ['operators']],
  [{ q: '"' }, []],
  [{ q: "':*" }, []],
  [{ q: '\\ \0 \ud800' }, []],
]

describeEachDatabase('a search', (open) => {
  it('finds the same messages on both engines', async () => {
    const { mailbox } = searching(await open())
    const [mine, other] = [await mailbox(), await mailbox()]
    const names = Object.keys(MESSAGES)
    const rows = await mine.add(...Object.values(MESSAGES))
    await other.add(...Object.values(MESSAGES))
    const nameById = new Map(rows.map((row, index) => [row.id, names[index] ?? '']))
    for (const [words, expected] of CASES) {
      const { ids, pagination } = await mine.find(words)
      expect([words, ids.map((id) => nameById.get(id))]).toEqual([words, expected.toReversed()])
      expect([words, pagination.total, pagination.partial]).toEqual([words, expected.length, undefined])
    }
    expect(CASES.length).toBeGreaterThan(60)
  })
})
