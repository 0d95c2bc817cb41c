import * as A from "@radix-ui/react-alert-dialog";
import { buttonVariants } from "@/components/ui/button";
import { overlay, styled } from "@/lib/styled";
import { cn } from "@/lib/utils";

export const AlertDialog = A.Root;
export const AlertDialogTrigger = A.Trigger;
const Overlay = styled(A.Overlay, overlay);

export function AlertDialogContent({ className, ...props }: A.AlertDialogContentProps) {
  return (
    <A.Portal>
      <Overlay />
      <A.Content
        className={cn(
          "fixed left-1/2 top-1/2 z-50 grid w-[calc(100%-2rem)] max-w-lg -translate-x-1/2 -translate-y-1/2 gap-4 rounded-lg border bg-background p-6 shadow-lg",
          className,
        )}
        {...props}
      />
    </A.Portal>
  );
}

export const AlertDialogHeader = styled("div", "flex flex-col gap-2");
export const AlertDialogFooter = styled("div", "flex flex-col-reverse gap-2 sm:flex-row sm:justify-end");
export const AlertDialogTitle = styled(A.Title, "text-lg font-semibold");
export const AlertDialogDescription = styled(A.Description, "text-sm text-muted-foreground");
export const AlertDialogAction = styled(A.Action, buttonVariants());
export const AlertDialogCancel = styled(A.Cancel, buttonVariants({ variant: "outline" }));
