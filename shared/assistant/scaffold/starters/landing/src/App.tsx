import { Faq } from './sections/Faq'
import { Features } from './sections/Features'
import { Footer } from './sections/Footer'
import { Header } from './sections/Header'
import { Hero } from './sections/Hero'
import { Pricing } from './sections/Pricing'
import { Quotes } from './sections/Quotes'
import { Waitlist } from './sections/Waitlist'

export default function App() {
  return (
    <>
      <Header />
      <main>
        <Hero />
        <Features />
        <Quotes />
        <Pricing />
        <Faq />
        <Waitlist />
      </main>
      <Footer />
    </>
  )
}
