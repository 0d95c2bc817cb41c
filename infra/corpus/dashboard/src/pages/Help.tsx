import { Lightbulb } from "lucide-react";
import { Accordion, AccordionContent, AccordionItem, AccordionTrigger } from "@/components/ui/accordion";
import { Alert, AlertDescription, AlertTitle } from "@/components/ui/alert";
import { Breadcrumb, BreadcrumbItem, BreadcrumbLink, BreadcrumbList, BreadcrumbPage, BreadcrumbSeparator } from "@/components/ui/breadcrumb";
import { Card, CardContent } from "@/components/ui/card";
import { Carousel, CarouselItem } from "@/components/ui/carousel";
import { Link } from "react-router-dom";

const questions = [
  ["How is revenue counted?", "Revenue is the sum of all paid orders. Pending orders count on the day on which they are paid."],
  ["Can I invite my accountant?", "Yes. People with the role “viewer” see all numbers, but change nothing."],
  ["Where do the numbers come from?", "This project shows sample data from src/data/sample.ts. Replace it with your own source."],
];
const tips = ["Press Ctrl K to jump to any page.", "Click a customer with the right button for more.", "Charts can be limited to three months."];

const Help = () => (
  <div className="mx-auto max-w-2xl space-y-6">
    <Breadcrumb>
      <BreadcrumbList>
        <BreadcrumbItem>
          <BreadcrumbLink asChild>
            <Link to="/">Overview</Link>
          </BreadcrumbLink>
        </BreadcrumbItem>
        <BreadcrumbSeparator />
        <BreadcrumbItem>
          <BreadcrumbPage>Help</BreadcrumbPage>
        </BreadcrumbItem>
      </BreadcrumbList>
    </Breadcrumb>
    <h1 className="page-title">Help</h1>
    <Alert variant="info">
      <Lightbulb />
      <AlertTitle>New here?</AlertTitle>
      <AlertDescription>Begin with the overview. It shows the month up to now.</AlertDescription>
    </Alert>
    <Carousel>
      {tips.map((tip) => (
        <CarouselItem key={tip}>
          <Card>
            <CardContent className="p-8 text-center text-lg">{tip}</CardContent>
          </Card>
        </CarouselItem>
      ))}
    </Carousel>
    <Accordion type="single" collapsible>
      {questions.map(([question, answer]) => (
        <AccordionItem key={question} value={question}>
          <AccordionTrigger>{question}</AccordionTrigger>
          <AccordionContent>{answer}</AccordionContent>
        </AccordionItem>
      ))}
    </Accordion>
  </div>
);

export default Help;
