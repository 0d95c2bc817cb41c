import * as React from "react";
import useEmblaCarousel, { type UseEmblaCarouselType } from "embla-carousel-react";
import { ArrowLeft, ArrowRight } from "lucide-react";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/utils";

type Api = UseEmblaCarouselType[1];
type Options = Parameters<typeof useEmblaCarousel>[0];

export function Carousel({ children, className, opts }: { children: React.ReactNode; className?: string; opts?: Options }) {
  const [viewport, api] = useEmblaCarousel(opts);
  const [ends, setEnds] = React.useState({ previous: false, next: false });

  React.useEffect(() => {
    if (!api) return;
    const update = (current: NonNullable<Api>) =>
      setEnds({ previous: current.canScrollPrev(), next: current.canScrollNext() });
    update(api);
    api.on("select", update).on("reInit", update);
    return () => {
      api.off("select", update).off("reInit", update);
    };
  }, [api]);

  return (
    <section className={cn("relative", className)} aria-roledescription="carousel">
      <div ref={viewport} className="overflow-hidden">
        <div className="-ml-4 flex">{children}</div>
      </div>
      <div className="mt-3 flex justify-end gap-2">
        <Button variant="outline" size="icon" className="size-8" disabled={!ends.previous} onClick={() => api?.scrollPrev()}>
          <ArrowLeft />
          <span className="sr-only">Previous</span>
        </Button>
        <Button variant="outline" size="icon" className="size-8" disabled={!ends.next} onClick={() => api?.scrollNext()}>
          <ArrowRight />
          <span className="sr-only">Next</span>
        </Button>
      </div>
    </section>
  );
}

export const CarouselItem = ({ className, ...props }: React.HTMLAttributes<HTMLDivElement>) => (
  <div role="group" aria-roledescription="slide" className={cn("min-w-0 shrink-0 grow-0 basis-full pl-4", className)} {...props} />
);
