import * as T from "@radix-ui/react-toggle-group";
import { toggleVariants } from "@/components/ui/toggle";
import { styled } from "@/lib/styled";

export const ToggleGroup = styled(T.Root, "flex items-center gap-1 rounded-md border p-0.5");
export const ToggleGroupItem = styled(T.Item, toggleVariants({ className: "h-7 px-2.5 text-xs" }));
