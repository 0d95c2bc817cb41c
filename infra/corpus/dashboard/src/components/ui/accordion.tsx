import * as React from "react";
import * as A from "@radix-ui/react-accordion";
import { ChevronDown } from "lucide-react";
import { styled } from "@/lib/styled";
import { cn } from "@/lib/utils";

export const Accordion = A.Root;
export const AccordionItem = styled(A.Item, "border-b last:border-0");

export const AccordionTrigger = React.forwardRef<HTMLButtonElement, A.AccordionTriggerProps>(
  ({ className, children, ...props }, ref) => (
    <A.Header className="flex">
      <A.Trigger
        ref={ref}
        className={cn(
          "flex flex-1 items-center justify-between gap-4 py-4 text-left font-medium transition-all hover:text-primary [&[data-state=open]>svg]:rotate-180",
          className,
        )}
        {...props}
      >
        {children}
        <ChevronDown className="size-4 shrink-0 transition-transform duration-200" />
      </A.Trigger>
    </A.Header>
  ),
);
AccordionTrigger.displayName = "AccordionTrigger";

export const AccordionContent = ({ className, children, ...props }: A.AccordionContentProps) => (
  <A.Content
    className="overflow-hidden text-sm text-muted-foreground data-[state=closed]:animate-accordion-up data-[state=open]:animate-accordion-down"
    {...props}
  >
    <div className={cn("pb-4 leading-relaxed", className)}>{children}</div>
  </A.Content>
);
