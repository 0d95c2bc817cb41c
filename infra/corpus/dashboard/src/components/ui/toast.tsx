import * as T from "@radix-ui/react-toast";
import { X } from "lucide-react";
import { styled } from "@/lib/styled";

export const ToastProvider = T.Provider;
export const ToastViewport = styled(T.Viewport, "fixed bottom-0 right-0 z-[100] flex max-h-screen w-full flex-col gap-2 p-4 md:max-w-[400px]");
export const Toast = styled(
  T.Root,
  "relative flex w-full items-start justify-between gap-4 rounded-md border bg-background p-4 shadow-lg data-[state=open]:animate-in data-[state=closed]:animate-out data-[swipe=end]:animate-out data-[state=closed]:fade-out-80 data-[state=closed]:slide-out-to-right-full data-[state=open]:slide-in-from-bottom-full",
);
export const ToastTitle = styled(T.Title, "text-sm font-semibold");
export const ToastDescription = styled(T.Description, "text-sm text-muted-foreground");

export const ToastClose = () => (
  <T.Close aria-label="Dismiss" className="opacity-60 hover:opacity-100">
    <X className="size-4" />
  </T.Close>
);
