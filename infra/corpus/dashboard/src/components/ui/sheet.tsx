import * as D from "@radix-ui/react-dialog";
import { cva, type VariantProps } from "class-variance-authority";
import { X } from "lucide-react";
import { overlay, styled } from "@/lib/styled";
import { cn } from "@/lib/utils";

export const Sheet = D.Root;
export const SheetTrigger = D.Trigger;
export const SheetClose = D.Close;
const Overlay = styled(D.Overlay, overlay);

const sheetVariants = cva(
  "fixed z-50 flex flex-col gap-4 bg-background p-6 shadow-lg transition ease-in-out data-[state=open]:animate-in data-[state=closed]:animate-out data-[state=closed]:duration-300 data-[state=open]:duration-300",
  {
    variants: {
      side: {
        left: "inset-y-0 left-0 h-full w-3/4 border-r data-[state=closed]:slide-out-to-left data-[state=open]:slide-in-from-left sm:max-w-sm",
        right: "inset-y-0 right-0 h-full w-[88%] border-l data-[state=closed]:slide-out-to-right data-[state=open]:slide-in-from-right sm:max-w-md",
      },
    },
    defaultVariants: { side: "right" },
  },
);

export function SheetContent({
  side,
  className,
  children,
  ...props
}: D.DialogContentProps & VariantProps<typeof sheetVariants>) {
  return (
    <D.Portal>
      <Overlay />
      <D.Content className={cn(sheetVariants({ side }), className)} {...props}>
        {children}
        <D.Close className="absolute right-4 top-4 opacity-70 hover:opacity-100">
          <X className="size-4" />
          <span className="sr-only">Close</span>
        </D.Close>
      </D.Content>
    </D.Portal>
  );
}

export const SheetHeader = styled("div", "flex flex-col gap-1.5 text-left");
export const SheetFooter = styled("div", "mt-auto flex flex-col-reverse gap-2 sm:flex-row sm:justify-end");
export const SheetTitle = styled(D.Title, "text-lg font-semibold text-foreground");
export const SheetDescription = styled(D.Description, "text-sm text-muted-foreground");
